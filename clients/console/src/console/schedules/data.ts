import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useHotkeys, useLocalStorage } from "@mantine/hooks";
import { useEffect, useMemo, useState } from "react";
import { useCan, useMe } from "../../shared/auth/user";
import {
  DAY,
  here,
  millis,
  sameClock,
  showClock,
  startOf,
  Temporal,
  today,
  weekStart,
  zoneName,
} from "../../shared/format/time";
import type { Texts } from "../../shared/i18n";
import { useSessions } from "../../shared/schedules/sessions";
import { useCatalog } from "../catalog/loaded";
import { routes } from "../routes";
import { dayOf } from "../ui/sessions";
import type { UiTexts } from "../ui/texts";
import type { Drop } from "./layout";
import type { Draft } from "./new-session";

/**
 * The sessions of a number of days, by their local date. A margin of one day on both sides covers
 * all time zones; sessions outside the days are dropped.
 */
export function useSchedule({ from, days, locationId }: Range) {
  const start = millis(startOf(from, "UTC")) - DAY;
  const end = start + (days + 2) * DAY;
  const query = useSessions(
    {
      startsWithin: { start: timestampFromMs(start), end: timestampFromMs(end) },
      locationIds: locationId ? [locationId] : [],
    },
    { keep: true, refetchInterval: 60_000 },
  );
  const first = from.toString();
  const data = useMemo(() => {
    const last = from.add({ days: days - 1 }).toString();
    return query.data?.filter((session) => {
      const day = dayOf(session);
      return day >= first && day <= last;
    });
  }, [query.data, first, days, from]);
  return { ...query, data };
}

/** A number of days in a row. */
export const daysFrom = (first: Temporal.PlainDate, days = 7): Temporal.PlainDate[] =>
  Array.from({ length: days }, (_, at) => first.add({ days: at }));

/** Which time zone is shown, and whether it differs from the browser's. */
export function zoneNote(zone: string, locale: string, t: Texts & UiTexts): string {
  const name = zoneName(zone, locale);
  const place = zone.replaceAll("_", " ");
  return sameClock(zone, here())
    ? t.ui.zone(place, name)
    : t.common.otherZone(place, name, zoneName(here(), locale));
}

/** The days, the location and the view that the schedule shows, from the URL. */
export function useRange(now: number) {
  const catalog = useCatalog();
  const { tenant } = useMe();
  const [search, change] = routes.schedule.useSearch();
  const places = catalog.locations.filter(({ active }) => active);
  const [kept, keep] = useLocalStorage({ key: "berth.location", defaultValue: "" });
  const mixedZones = new Set(places.map(({ timeZone }) => timeZone)).size > 1;
  // By default show one location, because a single time zone is easier to read.
  const first = mixedZones || places.length === 1 ? (places[0]?.id ?? "") : "";
  const chosen = search.location || kept;
  const locationId = catalog.location(chosen) ? chosen : chosen === "all" ? "" : first;
  const location = catalog.location(locationId);
  const shared = mixedZones ? undefined : places[0]?.timeZone;
  const zone = location?.timeZone ?? shared ?? tenant.timeZone;
  const { view, by } = search;
  const day = search.date ?? today(zone, now);
  const text = (view === "week" ? weekStart(day) : day).toString();
  const from = useMemo(() => Temporal.PlainDate.from(text), [text]);
  const days = view === "week" ? 7 : 1;
  return {
    places,
    /** All locations if empty. */
    locationId,
    zone,
    /** The shown locations have different time zones. */
    mixed: !location && mixedZones,
    view,
    by,
    group: by || "location",
    day,
    from,
    days,
    change,
    turn: (times: number) => change({ date: from.add({ days: times * days }) }),
    showToday: () => change({ date: undefined }),
    choosePlace: (id: string) => {
      keep(id || "all");
      change({ location: undefined });
    },
  };
}

export type Range = ReturnType<typeof useRange>;

/** When a new session starts, unless the user clicked a time. */
const usualStart = 18 * 60;

/** The session that the user begins, at the time or the row that they clicked. */
export function useDraft({ view, group, day, locationId, places }: Range) {
  const can = useCan();
  const [draft, setDraft] = useState<Draft>();
  const begin = (date: string, start: number, owner?: string) =>
    setDraft({
      date,
      start: showClock(start),
      locationId: (group === "location" && owner) || locationId || (places[0]?.id ?? ""),
      ...(group === "resource" && owner && { resourceId: owner }),
      ...(group === "coach" && owner && { coachId: owner }),
    });
  const beginNow = () => begin(day.toString(), usualStart);
  useHotkeys([["n", () => can("session.create") && beginNow()]]);
  const [{ new: wanted }, change] = routes.schedule.useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, if the URL asks for a session
  useEffect(() => {
    if (!wanted) return;
    change({ new: undefined });
    beginNow();
  }, [wanted]);
  return {
    draft,
    close: () => setDraft(undefined),
    begin: beginNow,
    /** Begins at a time in a column of the grid. */
    beginAt: ({ column, minute }: Drop) =>
      view === "week" ? begin(column, minute) : begin(day.toString(), minute, column),
    /** Begins on a day, in a row of the board. */
    beginOn: (date: string, owner: string) => begin(date, usualStart, owner),
  };
}
