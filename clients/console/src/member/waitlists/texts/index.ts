import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type WaitlistTexts = typeof en;

export const waitlistTexts = pageTexts<WaitlistTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
