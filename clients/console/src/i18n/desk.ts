import { type Language, useI18n } from ".";
import { de } from "./desk/de";
import { en } from "./desk/en";
import { fr } from "./desk/fr";

/**
 * Texts of the front desk and the catalog. Loaded with the pages that show them, to keep the first
 * load of the console small.
 */
export type Desk = typeof en;

const desks: Record<Language, Desk> = { en, de, fr };

export const useDesk = (): Desk => desks[useI18n().language];
