/** Select options from entities with a name. */
export const named = (things: readonly { id: string; name: string }[]) =>
  things.map(({ id, name }) => ({ value: id, label: name }));

/** Options with their labels. */
export const options = <T extends string>(labels: { readonly [K in T]?: string }) =>
  (Object.entries(labels) as [T, string][]).map(([value, label]) => ({ value, label }));
