import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type CatalogTexts = typeof en;

export const catalogTexts = pageTexts<CatalogTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
