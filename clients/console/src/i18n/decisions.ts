import { type Language, useI18n } from ".";
import { de } from "./decisions/de";
import { en } from "./decisions/en";
import { fr } from "./decisions/fr";

/**
 * Explanations of waitlist decisions, for members and staff. Loaded with the pages that show them,
 * to keep the first load of both apps small.
 */
export type DecisionTexts = typeof en;

const stories: Record<Language, DecisionTexts> = { en, de, fr };

export const useDecisionTexts = (): DecisionTexts => stories[useI18n().language];
