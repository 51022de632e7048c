import type { Session } from "@berthhq/client";
import { useMemo } from "react";
import { minuteOfDay, showDay, Temporal, zoneName } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import type { Catalog } from "../catalog/data";
import { useCatalog } from "../catalog/loaded";
import { dayOf } from "../ui/sessions";
import { daysFrom, type Range } from "./data";
import { spanOf } from "./layout";
import { type ScheduleTexts, scheduleTexts } from "./texts";

export type Grouping = "location" | "resource" | "coach";

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  readonly kind: "today" | "past" | "";
  readonly sessions: readonly Session[];
  /** The current minute of the day, if the column shows today. */
  readonly now: number | undefined;
}

/** A row of the board. */
export interface BoardRow {
  /** The id of the location, resource or staff member; empty for sessions without one. */
  readonly owner: string;
  readonly name: string;
  readonly note: string;
  /** Sessions by date, such as 2026-03-18, in order of start. */
  readonly days: ReadonlyMap<string, readonly Session[]>;
}

/** The id of a session's location, resource or coach. */
export const ownerOf = (session: Session, group: Grouping): string => session[`${group}Id`];

const byStart = (sessions: readonly Session[]) =>
  [...sessions].sort((a, b) => spanOf(a).from - spanOf(b).from);

/** The sessions in order of start, by their location, resource or coach; "" if there is none. */
function byOwner(sessions: readonly Session[], group: Grouping, catalog: Catalog) {
  return Map.groupBy(byStart(sessions), (session) => {
    const owner = ownerOf(session, group);
    return group !== "coach" || catalog.coach(owner) ? owner : "";
  });
}

/** The sessions in each column of the schedule: a day, or in the day view a location, resource or coach. */
export function useColumns(sessions: readonly Session[], range: Range, now: number): Column[] {
  const catalog = useCatalog();
  const { t, locale } = useI18n(scheduleTexts);
  const { view, group, from, zone, locationId } = range;
  return useMemo(() => {
    /** The date and the minute in a time zone. */
    const clock = (timeZone: string) => {
      const current = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone);
      return { today: current.toPlainDate().toString(), minute: minuteOfDay(current) };
    };
    if (view === "week") {
      const { today, minute } = clock(zone);
      const byDay = Map.groupBy(byStart(sessions), dayOf);
      return daysFrom(from).map((day) => {
        const key = day.toString();
        return {
          key,
          title: String(day.day),
          note: showDay(day, locale, "weekday"),
          kind: key === today ? "today" : key < today ? "past" : "",
          sessions: byDay.get(key) ?? [],
          now: key === today ? minute : undefined,
        };
      });
    }
    const owned = byOwner(sessions, group, catalog);
    const date = from.toString();
    const column = (key: string, title: string, note: string, timeZone = zone): Column => {
      const { today, minute } = clock(timeZone);
      return {
        key,
        title,
        note,
        kind: "",
        sessions: owned.get(key) ?? [],
        now: today === date ? minute : undefined,
      };
    };
    const here = (id: string) => !locationId || id === locationId;
    if (group === "location") {
      return catalog.locations
        .filter(({ id, active }) => here(id) && (active || owned.has(id)))
        .map(({ id, name, timeZone }) => column(id, name, zoneName(timeZone, locale), timeZone));
    }
    const columns =
      group === "resource"
        ? catalog.resources
            .filter((resource) => here(resource.locationId))
            .map((resource) => {
              const { name = "", timeZone } = catalog.location(resource.locationId) ?? {};
              return column(resource.id, resource.name, name, timeZone);
            })
        : catalog.staff
            .filter(({ id }) => owned.has(id))
            .map(({ id, name }) => column(id, name, t.roleNames.coach));
    if (owned.has("") || columns.length === 0) columns.push(column("", without(group, t), ""));
    return columns;
  }, [sessions, view, group, from, catalog, now, zone, locationId, locale, t]);
}

/** The rows of a week: every location, resource or staff member, and one row for sessions without. */
export function useBoardRows(
  sessions: readonly Session[],
  { group, locationId }: Range,
): BoardRow[] {
  const catalog = useCatalog();
  const t = useText(scheduleTexts);
  return useMemo(() => {
    const owned = byOwner(sessions, group, catalog);
    const row = (owner: string, name: string, note = ""): BoardRow => ({
      owner,
      name,
      note,
      days: Map.groupBy(owned.get(owner) ?? [], dayOf),
    });
    const here = (id: string) => !locationId || id === locationId;
    const rows =
      group === "location"
        ? catalog.locations
            .filter(({ id, active }) => here(id) && (active || owned.has(id)))
            .map(({ id, name }) => row(id, name))
        : group === "resource"
          ? catalog.resources
              .filter((one) => here(one.locationId) && (one.active || owned.has(one.id)))
              .map((one) => row(one.id, one.name, catalog.location(one.locationId)?.name))
          : catalog.staff
              .filter(({ id, roles }) => owned.has(id) || roles.includes("coach"))
              .map(({ id, name }) => row(id, name));
    if (owned.has("")) rows.push(row("", without(group, t)));
    return rows;
  }, [sessions, group, catalog, locationId, t]);
}

/** The title of sessions without a resource or coach. */
const without = (group: Grouping, t: ScheduleTexts): string =>
  group === "resource" ? t.schedule.noResource : t.schedule.noCoach;
