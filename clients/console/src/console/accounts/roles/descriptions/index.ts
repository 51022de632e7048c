import { pageTexts } from "../../../../shared/i18n";
import type { Descriptions } from "./type";

export const descriptions = pageTexts<Descriptions>({
  en: async () => ({ described: { roles: {}, permissions: {} } }), // they come from the server
  de: async () => (await import("./de")).de,
  fr: async () => (await import("./fr")).fr,
});
