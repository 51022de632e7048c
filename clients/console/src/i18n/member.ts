import { pageTexts, useI18n } from ".";
import type { en } from "./member/en";

/** Texts of the member app beyond its first page. */
export type MemberTexts = typeof en;

const usePageTexts = pageTexts<MemberTexts>({
  en: async () => (await import("./member/en")).en,
  de: async () => (await import("./member/de")).de,
  fr: async () => (await import("./member/fr")).fr,
});

/** Texts, with those of the member app beyond its first page. */
export const useMemberTexts = () => ({ ...useI18n(), m: usePageTexts() });
