import { pageTexts, useI18n } from ".";
import type { en } from "./desk/en";

/** Texts of the front desk and the catalog. */
export type Desk = typeof en;

export const useDesk = pageTexts<Desk>({
  en: async () => (await import("./desk/en")).en,
  de: async () => (await import("./desk/de")).de,
  fr: async () => (await import("./desk/fr")).fr,
});

/** Texts, with those of the front desk and the catalog. */
export const useDeskTexts = () => ({ ...useI18n(), d: useDesk() });
