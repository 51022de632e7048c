import {
  type Duration,
  durationMs,
  type Timestamp,
  timestampDate,
  timestampFromMs,
} from "@bufbuild/protobuf/wkt";
import type { Temporal as Polyfill } from "temporal-polyfill";

/*
 * Users think in local time at a location; Berth stores instants. All conversions are here, and
 * always name the time zone.
 */

export type { Timestamp };

/** The browser's own implementation, or else the polyfill. */
// biome-ignore lint/style/useConst: loadTemporal assigns it
export let Temporal = (globalThis as unknown as { Temporal: typeof Polyfill }).Temporal;
export declare namespace Temporal {
  type PlainDate = Polyfill.PlainDate;
  type ZonedDateTime = Polyfill.ZonedDateTime;
}

/** Loads the polyfill if the browser needs it. An app waits for this before it renders. */
export async function loadTemporal(): Promise<void> {
  Temporal ??= (await import("temporal-polyfill")).Temporal;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Local time in a time zone. */
export const zoned = (at: Timestamp, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(millis(at)).toZonedDateTimeISO(zone);

export const millis = (at: Timestamp | undefined): number => (at ? timestampDate(at).getTime() : 0);

export const instant = (at: Temporal.ZonedDateTime): Timestamp =>
  timestampFromMs(at.epochMilliseconds);

/** Today in a time zone. */
export const today = (zone: string, now = Date.now()): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate();

export const weekStart = (day: Temporal.PlainDate): Temporal.PlainDate =>
  day.subtract({ days: day.dayOfWeek - 1 });

/** The start of a day in a time zone. It is not always midnight. */
export const startOf = (day: Temporal.PlainDate, zone: string): Timestamp =>
  instant(day.toZonedDateTime(zone));

/** Minutes since midnight, local time. */
export const minuteOfDay = (at: Temporal.ZonedDateTime): number => at.hour * 60 + at.minute;

/**
 * The instant of a local time. A time that a clock change skips moves forward by the gap; of a
 * repeated time it is the first.
 */
export function atWallClock(day: Temporal.PlainDate, minute: number, zone: string): Timestamp {
  const time = new Temporal.PlainTime(Math.floor(minute / 60), minute % 60);
  return instant(day.toZonedDateTime({ timeZone: zone, plainTime: time }));
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options);
  let made = formatters.get(key);
  if (!made) {
    made = new Intl.DateTimeFormat(locale, options);
    formatters.set(key, made);
  }
  return made;
}

const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

const styles = {
  time: clock,
  day: { weekday: "short", day: "numeric", month: "short" },
  longDay: { weekday: "long", day: "numeric", month: "long" },
  date: { day: "numeric", month: "short", year: "numeric" },
  dateTime: { day: "numeric", month: "short", ...clock },
  dayTime: { weekday: "short", day: "numeric", month: "short", ...clock },
  full: { day: "numeric", month: "short", year: "numeric", ...clock, second: "2-digit" },
  weekday: { weekday: "short" },
  weekdayName: { weekday: "long" },
  month: { month: "long", year: "numeric" },
} satisfies Record<string, Intl.DateTimeFormatOptions>;

export type TimeStyle = keyof typeof styles;

export function showTime(at: Timestamp, zone: string, locale: string, style: TimeStyle): string {
  return formatter(locale, { ...styles[style], timeZone: zone }).format(millis(at));
}

const noon = ({ year, month, day }: CivilDay) => Date.UTC(year, month - 1, day, 12);

export const showDay = (day: Temporal.PlainDate, locale: string, style: TimeStyle): string =>
  formatter(locale, { ...styles[style], timeZone: "UTC" }).format(noon(day));

/** The first and the last of several days. */
export const showDays = (first: Temporal.PlainDate, last: Temporal.PlainDate, locale: string) =>
  formatter(locale, { ...styles.date, timeZone: "UTC" }).formatRange(noon(first), noon(last));

/** The short name of a time zone at an instant: "CET", "GMT+1". */
export function zoneName(zone: string, locale: string, at = Date.now()): string {
  const parts = formatter(locale, { timeZone: zone, timeZoneName: "short" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? zone;
}

/** The browser's time zone. */
export const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether two time zones have the same local time at an instant. */
export function sameClock(a: string, b: string, at = Date.now()): boolean {
  const instant = Temporal.Instant.fromEpochMilliseconds(at);
  return (
    instant.toZonedDateTimeISO(a).offsetNanoseconds ===
    instant.toZonedDateTimeISO(b).offsetNanoseconds
  );
}

/** "07:05" in minutes, or undefined. */
export function parseClock(text: string): number | undefined {
  const found = /^(\d{1,2}):(\d{2})$/.exec(text.trim());
  if (!found) return undefined;
  const minute = Number(found[1]) * 60 + Number(found[2]);
  return Number(found[1]) < 24 && Number(found[2]) < 60 ? minute : undefined;
}

export function showClock(minute: number): string {
  const pad = (n: number) => String(n).padStart(2, "0");
  return `${pad(Math.floor(minute / 60) % 24)}:${pad(minute % 60)}`;
}

/** A time of day as in the contract. */
export interface TimeOfDay {
  readonly hours: number;
  readonly minutes: number;
}

/** "07:05" as in the contract; midnight if invalid. */
export function timeOfDay(text: string): TimeOfDay {
  const minute = parseClock(text) ?? 0;
  return { hours: Math.floor(minute / 60), minutes: minute % 60 };
}

/** A time of day as "07:05"; midnight if absent. */
export const wallClock = ({ hours = 0, minutes = 0 }: Partial<TimeOfDay> = {}): string =>
  showClock(hours * 60 + minutes);

/** A date as in the contract. */
export interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** A date, or text such as 2026-03-18, as in the contract. */
export function civilDay(of: Temporal.PlainDate | string): CivilDay {
  const { year, month, day } = Temporal.PlainDate.from(of);
  return { year, month, day };
}

export const plainDay = ({ year, month, day }: CivilDay): Temporal.PlainDate =>
  new Temporal.PlainDate(year, month, day);

/** A duration in milliseconds; 0 if absent. */
export const spanMs = (span: Duration | undefined): number => (span ? durationMs(span) : 0);

/** "2 h", "1 h 15 min": units that are the same in English, German and French. */
export function showSpan(ms: number): string {
  const minutes = Math.round(ms / MINUTE);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const rest = minutes % 60;
  const parts = [days && `${days} d`, hours && `${hours} h`, rest && `${rest} min`].filter(Boolean);
  return parts.join(" ") || "0 min";
}
