import { type Language, useSpeech } from ".";
import { de } from "./member/de";
import { en } from "./member/en";
import { fr } from "./member/fr";

/** The texts of the members' app behind its first page. They come with the pages that show them, so that its first load carries none. */
export type MemberTexts = typeof en;

const texts: Record<Language, MemberTexts> = { en, de, fr };

export const useMemberTexts = (): MemberTexts => texts[useSpeech().language];
