import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type AccountTexts = typeof en;

export const accountTexts = pageTexts<AccountTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
