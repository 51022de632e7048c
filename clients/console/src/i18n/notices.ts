import { type Language, useI18n } from ".";
import { de } from "./notices/de";
import { en } from "./notices/en";
import { fr } from "./notices/fr";

/** Texts about messages. Loaded with the pages that show them, to keep the first load small. */
export type Notices = typeof en;

const notices: Record<Language, Notices> = { en, de, fr };

export const useNotices = (): Notices => notices[useI18n().language];
