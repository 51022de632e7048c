import { pageTexts } from "../../../../shared/i18n";
import type { en } from "./en";

export type MemberPageTexts = typeof en;

export const memberPageTexts = pageTexts<MemberPageTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
