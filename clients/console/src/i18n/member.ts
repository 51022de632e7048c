import { type Language, useI18n } from ".";
import { de } from "./member/de";
import { en } from "./member/en";
import { fr } from "./member/fr";

/**
 * Texts of the member app beyond its first page. Loaded with the pages that show them, to keep the
 * first load small.
 */
export type MemberTexts = typeof en;

const texts: Record<Language, MemberTexts> = { en, de, fr };

export const useMemberTexts = (): MemberTexts => texts[useI18n().language];
