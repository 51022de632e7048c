import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type ImportTexts = typeof en;

export const importTexts = pageTexts<ImportTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
