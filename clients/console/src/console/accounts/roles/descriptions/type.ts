/** Translated descriptions of permissions and built-in roles, by name, where there are any. */
export interface Descriptions {
  readonly described: {
    readonly roles: Readonly<Record<string, string>>;
    readonly permissions: Readonly<Record<string, string>>;
  };
}
