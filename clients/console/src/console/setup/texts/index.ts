import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type SetupTexts = typeof en;

export const setupTexts = pageTexts<SetupTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
