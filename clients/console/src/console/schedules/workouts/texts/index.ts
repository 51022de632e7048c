import { pageTexts } from "../../../../shared/i18n";
import type { en } from "./en";

export type WorkoutTexts = typeof en;

export const workoutTexts = pageTexts<WorkoutTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
