import { pageTexts } from ".";
import type { en } from "./decisions/en";

/** Explanations of waitlist decisions, for members and staff. */
export type DecisionTexts = typeof en;

export const useDecisionTexts = pageTexts<DecisionTexts>({
  en: async () => (await import("./decisions/en")).en,
  de: async () => (await import("./decisions/de")).de,
  fr: async () => (await import("./decisions/fr")).fr,
});
