import { type Language, useI18n } from ".";
import { de } from "./permissions/de";
import { fr } from "./permissions/fr";

/** Descriptions by name. */
export interface Described {
  readonly roles: Readonly<Record<string, string>>;
  readonly permissions: Readonly<Record<string, string>>;
}

/** English descriptions come from the server. */
const translated: Partial<Record<Language, Described>> = { de, fr };

const none: Described = { roles: {}, permissions: {} };

/** Translated descriptions of permissions and built-in roles, where there are any. */
export const useDescribed = (): Described => translated[useI18n().language] ?? none;
