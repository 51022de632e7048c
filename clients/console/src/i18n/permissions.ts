import { pageTexts } from ".";

/** Descriptions by name. */
export interface Described {
  readonly roles: Readonly<Record<string, string>>;
  readonly permissions: Readonly<Record<string, string>>;
}

/** Translated descriptions of permissions and built-in roles, where there are any. */
export const useDescribed = pageTexts<Described>({
  en: async () => ({ roles: {}, permissions: {} }), // they come from the server
  de: async () => (await import("./permissions/de")).de,
  fr: async () => (await import("./permissions/fr")).fr,
});
