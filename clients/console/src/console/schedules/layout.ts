import type { Session } from "@berthhq/client";
import { MINUTE, millis, minuteOfDay, zoned } from "../../shared/format/time";

/** A time span, in minutes of a day. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where a session was dropped. */
export interface Drop {
  readonly column: string;
  /** Minute of the day. */
  readonly minute: number;
}

interface Placed {
  /** Index of its lane, from 0. */
  lane: number;
  /** Number of lanes at its position. */
  lanes: number;
}

/**
 * Places overlapping spans side by side. Spans that overlap, directly or through others, share the
 * width evenly; each takes the first free lane.
 */
export function place<T extends Span>(spans: readonly T[]): (T & Placed)[] {
  const placed = spans.map((span) => ({ ...span, lane: 0, lanes: 1 }));
  let group: Placed[] = [];
  let ends: number[] = [];
  for (const span of placed.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (ends.every((end) => end <= span.from)) {
      group = [];
      ends = [];
    }
    const free = ends.findIndex((end) => end <= span.from);
    span.lane = free < 0 ? ends.length : free;
    ends[span.lane] = span.to;
    group.push(span);
    for (const member of group) member.lanes = ends.length;
  }
  return placed;
}

/** The hours to show: those of the spans, and at least the usual day. */
export function hoursOf(spans: readonly Span[], usual: Span = { from: 7, to: 21 }): Span {
  let { from, to } = usual;
  for (const span of spans) {
    from = Math.min(from, Math.floor(span.from / 60));
    to = Math.max(to, Math.ceil(span.to / 60));
  }
  return { from: Math.max(0, from), to: Math.min(24, to) };
}

/** Rounds to a step of minutes. */
export function snap(minute: number, step = 15): number {
  return Math.round(minute / step) * step;
}

/** Height of an hour, in pixels, unless sessions are short. */
const usualHour = 56;
const highestHour = 240;

/** Sessions below this height, in pixels, are too small to read and to hit. */
const leastHeight = 24;

const lengthOf = ({ startTime, endTime }: Session) =>
  (millis(endTime) - millis(startTime)) / MINUTE;

/** Pixels per hour. Short sessions, such as tee times, need more than classes. */
export function hourFor(sessions: readonly Session[]): number {
  const shortest = Math.min(60, ...sessions.map(lengthOf).filter((length) => length > 0));
  return Math.min(highestHour, Math.max(usualHour, Math.ceil((60 / shortest) * leastHeight)));
}

export function spanOf(session: Session, hour = usualHour): Span {
  if (!session.startTime || !session.endTime) return { from: 0, to: 0 };
  const from = minuteOfDay(zoned(session.startTime, session.timeZone));
  const length = Math.max(lengthOf(session), (leastHeight / hour) * 60);
  return { from, to: Math.min(24 * 60, from + length) };
}
