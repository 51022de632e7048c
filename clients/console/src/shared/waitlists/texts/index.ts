import { pageTexts } from "../../i18n";
import type { en } from "./en";

export type DecisionTexts = typeof en;

export const decisionTexts = pageTexts<DecisionTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
