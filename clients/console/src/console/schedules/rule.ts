import type { Temporal } from "../../shared/format/time";

/** Weekdays in RFC 5545, Monday first. */
export const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
export type Weekday = (typeof weekdays)[number];

export const frequencies = ["DAILY", "WEEKLY", "MONTHLY"] as const;
export type Frequency = (typeof frequencies)[number];

/** How a day of a month is chosen: the same date, the nth weekday, or the last such weekday. */
export type InMonth = "date" | "nth" | "last";

/** How a series repeats from its first date. */
export interface Rule {
  readonly frequency: Frequency;
  /** Interval in days, weeks or months. */
  readonly every: number;
  /** Weekdays, if weekly. */
  readonly days: readonly Weekday[];
  /** The day of the month, if monthly. */
  readonly on: InMonth;
  /** A number of sessions, or the last date (2026-03-18). */
  readonly end: { readonly count: number } | { readonly until: string };
}

export const weekdayOf = (day: Temporal.PlainDate): Weekday => weekdays[day.dayOfWeek - 1] ?? "MO";

/** Which occurrence of its weekday in the month a date is, from 1. */
export const nthOf = (day: Temporal.PlainDate): number => Math.ceil(day.day / 7);

/** Weekly on the weekday of the first date. */
export const usual = (start: Temporal.PlainDate, end: Rule["end"] = { count: 24 }): Rule => ({
  frequency: "WEEKLY",
  every: 1,
  days: [weekdayOf(start)],
  on: "date",
  end,
});

/** The parts of the RRULE that choose days within a period. */
function part({ frequency, days, on }: Rule, start: Temporal.PlainDate): string {
  if (frequency === "DAILY") return "";
  if (frequency === "WEEKLY") return `BYDAY=${weekdays.filter((day) => days.includes(day))}`;
  const weekday = weekdayOf(start);
  return {
    date: `BYMONTHDAY=${start.day}`,
    nth: `BYDAY=${nthOf(start)}${weekday}`,
    last: `BYDAY=-1${weekday}`,
  }[on];
}

/** The rule as RFC 5545 text. */
export function writeRule(rule: Rule, start: Temporal.PlainDate): string {
  const { frequency, every, end } = rule;
  return [
    `FREQ=${frequency}`,
    part(rule, start),
    every > 1 && `INTERVAL=${every}`,
    // UNTIL is an instant, and the last date belongs to the series: use the end of that day.
    "count" in end ? `COUNT=${end.count}` : `UNTIL=${end.until.replaceAll("-", "")}T235959Z`,
  ]
    .filter(Boolean)
    .join(";");
}

/** The dates that a rule chooses in its nth period. */
function chosen(start: Temporal.PlainDate, rule: Rule, period: number): Temporal.PlainDate[] {
  if (rule.frequency === "DAILY") return [start.add({ days: period })];
  if (rule.frequency === "WEEKLY") {
    const monday = start.add({ weeks: period }).subtract({ days: start.dayOfWeek - 1 });
    return weekdays.flatMap((day, at) =>
      rule.days.includes(day) ? [monday.add({ days: at })] : [],
    );
  }
  const first = start.with({ day: 1 }).add({ months: period });
  const earliest = 1 + ((start.dayOfWeek - first.dayOfWeek + 7) % 7);
  const day = {
    date: start.day,
    nth: earliest + 7 * (nthOf(start) - 1),
    last: earliest + 7 * Math.floor((first.daysInMonth - earliest) / 7),
  }[rule.on];
  // Months without such a date are skipped.
  return day <= first.daysInMonth ? [first.with({ day })] : [];
}

/** Limits the search for occurrences, for rules that match rarely or never. */
const mostPeriods = 1000;

/** The first dates of a series, up to a limit. Weeks start on Monday. */
export function occurrences(
  start: Temporal.PlainDate,
  rule: Rule,
  most: number,
): Temporal.PlainDate[] {
  const found: Temporal.PlainDate[] = [];
  const limit = Math.min(most, "count" in rule.end ? rule.end.count : most);
  for (let period = 0; period < mostPeriods; period += rule.every) {
    for (const day of chosen(start, rule, period)) {
      if (found.length === limit) return found;
      if ("until" in rule.end && day.toString() > rule.end.until) return found;
      if (day.until(start).sign <= 0) found.push(day);
    }
  }
  return found;
}

const known = new Set(["FREQ", "BYDAY", "BYMONTHDAY", "INTERVAL", "COUNT", "UNTIL", "WKST"]);

/**
 * Parses the rule of a series that starts on a date. undefined if the editor cannot express it;
 * such rules are kept as they are.
 */
export function readRule(text: string, start: Temporal.PlainDate): Rule | undefined {
  const parts = new Map(text.split(";").map((one) => one.split("=", 2) as [string, string]));
  if (![...parts.keys()].every((name) => known.has(name))) return undefined;
  const until = /^(\d{4})(\d\d)(\d\d)/.exec(parts.get("UNTIL") ?? "");
  const count = Number(parts.get("COUNT"));
  const end = until ? { until: `${until[1]}-${until[2]}-${until[3]}` } : count > 0 && { count };
  const frequency = frequencies.find((one) => one === parts.get("FREQ"));
  if (!end || !frequency || (parts.get("WKST") ?? "MO") !== "MO") return undefined;
  const rule = { ...usual(start, end), frequency, every: Number(parts.get("INTERVAL") ?? 1) };
  const date = parts.get("BYMONTHDAY");
  const named = parts.get("BYDAY")?.split(",") ?? [];
  if (frequency === "WEEKLY") {
    const days = weekdays.filter((day) => named.includes(day));
    return !date && days.length > 0 && days.length === named.length ? { ...rule, days } : undefined;
  }
  const wanted = [date && `BYMONTHDAY=${date}`, named.length > 0 && `BYDAY=${named}`];
  return (["date", "nth", "last"] as const)
    .map((on) => ({ ...rule, on }))
    .find((one) => part(one, start) === wanted.filter(Boolean).join(";"));
}
