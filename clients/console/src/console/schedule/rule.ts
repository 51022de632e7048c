import type { Temporal } from "../../shared/time";

/** The days of a week in RFC 5545, Monday first. */
export const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
export type Weekday = (typeof weekdays)[number];

export interface Weekly {
  readonly days: readonly Weekday[];
  /** Every so many weeks. */
  readonly every: number;
  /** So many sessions, or until a day (2026-03-18). */
  readonly end: { readonly count: number } | { readonly until: string };
}

/** A rule as the contract wants it. */
export function writeRule({ days, every, end }: Weekly): string {
  const ordered = weekdays.filter((day) => days.includes(day));
  const parts = ["FREQ=WEEKLY", `BYDAY=${ordered.join(",")}`];
  if (every > 1) parts.push(`INTERVAL=${every}`);
  // The end of the day: UNTIL is an instant, and its day belongs to the series.
  if ("count" in end) parts.push(`COUNT=${end.count}`);
  else parts.push(`UNTIL=${end.until.replaceAll("-", "")}T235959Z`);
  return parts.join(";");
}

/** The first days of a series, at most so many. Weeks begin on Monday. */
export function occurrences(
  start: Temporal.PlainDate,
  rule: Weekly,
  most: number,
): Temporal.PlainDate[] {
  const found: Temporal.PlainDate[] = [];
  const wanted = new Set(rule.days.map((day) => weekdays.indexOf(day) + 1));
  if (wanted.size === 0) return found;
  const limit = Math.min(most, "count" in rule.end ? rule.end.count : most);
  const first = start.subtract({ days: start.dayOfWeek - 1 });
  for (let week = 0; found.length < limit; week += rule.every) {
    for (const weekday of [...wanted].sort()) {
      const day = first.add({ days: week * 7 + weekday - 1 });
      if ("until" in rule.end && day.toString() > rule.end.until) return found;
      if (day.until(start).sign <= 0 && found.length < limit) found.push(day);
    }
    if (week > 1000) return found;
  }
  return found;
}

const readable = /^(FREQ|BYDAY|INTERVAL|COUNT|UNTIL|WKST)=(.+)$/;

/** A rule of the contract, where it is a plain weekly one: others are kept as they are, and not edited here. */
export function readRule(text: string): Weekly | undefined {
  const parts = new Map<string, string>();
  for (const part of text.split(";")) {
    const found = readable.exec(part);
    if (!found?.[1] || !found[2]) return undefined;
    parts.set(found[1], found[2]);
  }
  const days = (parts.get("BYDAY") ?? "").split(",");
  const known = weekdays.filter((day) => days.includes(day));
  const until = /^(\d{4})(\d\d)(\d\d)/.exec(parts.get("UNTIL") ?? "");
  const count = Number(parts.get("COUNT"));
  if (parts.get("FREQ") !== "WEEKLY" || known.length !== days.length) return undefined;
  if (parts.has("WKST") && parts.get("WKST") !== "MO") return undefined;
  const end = until ? { until: `${until[1]}-${until[2]}-${until[3]}` } : count > 0 && { count };
  return end ? { days: known, every: Number(parts.get("INTERVAL") ?? 1), end } : undefined;
}
