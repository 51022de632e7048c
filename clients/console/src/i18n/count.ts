/*
 * A number and what is counted. Each language has its own rule for when there are several.
 */

export const en = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
export const de = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
export const fr = (n: number, one: string, many = `${one}s`) => `${n} ${n < 2 ? one : many}`;
