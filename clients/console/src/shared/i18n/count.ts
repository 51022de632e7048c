/*
 * A number with its noun. Each language has its own plural rule.
 */

export const en = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
export const de = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
export const fr = (n: number, one: string, many = `${one}s`) => `${n} ${n < 2 ? one : many}`;
