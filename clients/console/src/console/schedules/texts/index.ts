import { firstTexts } from "../../../shared/i18n";
import type { en } from "./en";

export type ScheduleTexts = typeof en;

export const scheduleTexts = firstTexts<ScheduleTexts>();
