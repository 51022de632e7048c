import { pageTexts, useI18n } from ".";
import type { en } from "./notices/en";

/** Texts about messages. */
export type Notices = typeof en;

export const useNotices = pageTexts<Notices>({
  en: async () => (await import("./notices/en")).en,
  de: async () => (await import("./notices/de")).de,
  fr: async () => (await import("./notices/fr")).fr,
});

/** Texts, with those about messages. */
export const useNoticeTexts = () => ({ ...useI18n(), n: useNotices() });
