import { type Language, useSpeech } from ".";
import { de } from "./notices/de";
import { en } from "./notices/en";
import { fr } from "./notices/fr";

/** The texts about messages. They come with the pages that show them, so that no app's first load carries them. */
export type Notices = typeof en;

const notices: Record<Language, Notices> = { en, de, fr };

export const useNotices = (): Notices => notices[useSpeech().language];
