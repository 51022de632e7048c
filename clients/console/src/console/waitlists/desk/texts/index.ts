import { pageTexts } from "../../../../shared/i18n";
import type { en } from "./en";

export type DeskTexts = typeof en;

export const deskTexts = pageTexts<DeskTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
