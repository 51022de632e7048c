import { type Language, useSpeech } from ".";
import { de } from "./permissions/de";
import { fr } from "./permissions/fr";

/** Descriptions by name. */
export interface Described {
  readonly roles: Readonly<Record<string, string>>;
  readonly permissions: Readonly<Record<string, string>>;
}

/** The English is the server's own. */
const translated: Partial<Record<Language, Described>> = { de, fr };

const none: Described = { roles: {}, permissions: {} };

/** Descriptions of permissions and of built-in roles in the reader's language, for those that have one. */
export const useDescribed = (): Described => translated[useSpeech().language] ?? none;
