import { pageTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type MessageTexts = typeof en;

export const messageTexts = pageTexts<MessageTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
