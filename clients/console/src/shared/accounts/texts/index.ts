import { pageTexts } from "../../i18n";
import type { en } from "./en";

export type ProfileTexts = typeof en;

export const profileTexts = pageTexts<ProfileTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
