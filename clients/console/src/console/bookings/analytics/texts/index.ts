import { firstTexts } from "../../../../shared/i18n";
import type { en } from "./en";

export type AnalyticsTexts = typeof en;

export const analyticsTexts = firstTexts<AnalyticsTexts>();
