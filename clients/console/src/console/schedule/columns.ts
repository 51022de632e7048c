import type { Session } from "@berthhq/client";
import { useMemo } from "react";
import { useI18n, useText } from "../../i18n";
import { minuteOfDay, showDay, Temporal, zoneName } from "../../shared/time";
import { type Catalog, dayOf } from "../data";
import { type Column, spanOf } from "./grid";

export type View = "week" | "day";
export type Group = "location" | "resource" | "coach";

interface Arrangement {
  view: View;
  group: Group;
  from: Temporal.PlainDate;
  catalog: Catalog;
  now: number;
  zone: string;
  locationId: string;
}

/** The sessions in each column of the schedule. */
export function useColumns(sessions: readonly Session[], how: Arrangement): Column[] {
  const t = useText();
  const { locale } = useI18n();
  const { view, group, from, catalog, now, zone, locationId } = how;
  return useMemo(() => {
    const clock = (z: string) => Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(z);
    const ordered = [...sessions].sort((a, b) => spanOf(a).from - spanOf(b).from);
    if (view === "week") {
      const current = clock(zone);
      const todayText = current.toPlainDate().toString();
      return Array.from({ length: 7 }, (_, at) => {
        const day = from.add({ days: at });
        const key = day.toString();
        const kind = key === todayText ? "today" : key < todayText ? "past" : "";
        return {
          key,
          title: String(day.day),
          note: showDay(day, locale, "weekday"),
          kind,
          sessions: ordered.filter((session) => dayOf(session) === key),
          now: key === todayText ? minuteOfDay(current) : undefined,
        };
      });
    }
    const date = from.toString();
    const nowIn = (z: string) => {
      const current = clock(z);
      return current.toPlainDate().toString() === date ? minuteOfDay(current) : undefined;
    };
    const inside = catalog.locations.filter(({ id }) => !locationId || id === locationId);
    const column = (
      key: string,
      title: string,
      note: string,
      z: string,
      mine: Session[],
    ): Column => ({
      key,
      title,
      note,
      kind: "",
      sessions: mine,
      now: nowIn(z),
    });
    if (group === "location") {
      return inside
        .filter(({ id, active }) => active || ordered.some((s) => s.locationId === id))
        .map(({ id, name, timeZone }) =>
          column(
            id,
            name,
            zoneName(timeZone, locale),
            timeZone,
            ordered.filter((s) => s.locationId === id),
          ),
        );
    }
    if (group === "resource") {
      const columns = catalog.resources
        .filter(({ locationId: at }) => inside.some(({ id }) => id === at))
        .map(({ id, name, locationId: at }) => {
          const place = catalog.location(at);
          const mine = ordered.filter((s) => s.resourceId === id);
          return column(id, name, place?.name ?? "", place?.timeZone ?? zone, mine);
        });
      const none = ordered.filter((s) => !s.resourceId);
      return none.length > 0 || columns.length === 0
        ? [...columns, column("", t.schedule.noResource, "", zone, none)]
        : columns;
    }
    const leading = new Set(ordered.map(({ coachId }) => coachId));
    const columns = catalog.staff
      .filter(({ id }) => leading.has(id))
      .map(({ id, name }) =>
        column(
          id,
          name,
          t.roleNames.coach,
          zone,
          ordered.filter((s) => s.coachId === id),
        ),
      );
    const none = ordered.filter((s) => !catalog.coach(s.coachId));
    return none.length > 0 || columns.length === 0
      ? [...columns, column("", t.schedule.noCoach, "", zone, none)]
      : columns;
  }, [sessions, view, group, from, catalog, now, zone, locationId, locale, t]);
}
