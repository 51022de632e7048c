import { pageTexts } from "../../i18n";
import type { en } from "./en";

export type NotificationTexts = typeof en;

export const notificationTexts = pageTexts<NotificationTexts>({
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
