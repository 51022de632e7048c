import { firstTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type WaitlistTexts = typeof en;

export const waitlistTexts = firstTexts<WaitlistTexts>();
