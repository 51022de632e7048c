import type { Messages } from "../../i18n";
import { here, sameClock, zoneName } from "../../shared/time";

/** Which time zone is shown, and whether it differs from the browser's. */
export function zoneNote(zone: string, locale: string, t: Messages): string {
  const name = zoneName(zone, locale);
  const place = zone.replaceAll("_", " ");
  return sameClock(zone, here())
    ? t.schedule.zone(place, name)
    : t.schedule.otherZone(place, name, zoneName(here(), locale));
}
