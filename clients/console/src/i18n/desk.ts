import { type Language, useSpeech } from ".";
import { de } from "./desk/de";
import { en } from "./desk/en";
import { fr } from "./desk/fr";

/** The texts of the front desk and of the catalog. They come with the pages that show them, so that no app's first load carries them. */
export type Desk = typeof en;

const desks: Record<Language, Desk> = { en, de, fr };

export const useDesk = (): Desk => desks[useSpeech().language];
