import { pageTexts, useI18n } from ".";
import type { en } from "./ownership/en";

/** Texts about transfers of ownership, in both apps. */
export type OwnershipTexts = typeof en;

const usePageTexts = pageTexts<OwnershipTexts>({
  en: async () => (await import("./ownership/en")).en,
  de: async () => (await import("./ownership/de")).de,
  fr: async () => (await import("./ownership/fr")).fr,
});

/** Texts, with those about transfers of ownership. */
export const useOwnershipTexts = () => ({ ...useI18n(), o: usePageTexts() });
