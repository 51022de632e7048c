import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type BookingTexts = typeof en;

export const bookingTexts = pageTexts<BookingTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
