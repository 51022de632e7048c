import { en as s } from "../../../shared/i18n/count";

/** Texts about waiting for a time window or for one of several sessions. */
export const en = {
  timeWindow: {
    title: "Wait for a time window",
    note: "Choose the days and times that suit you. When a seat opens, we book it for you or offer it to you.",
    first: "From",
    last: "To",
    earliest: "Starts after",
    latest: "Starts before",
    coach: "Coach",
    anyCoach: "Any coach",
    join: "Join waitlist",
    joined: (position: number) => `You are number ${position} on the waitlist.`,
    free: (title: string) => `${title} has open seats.`,
    see: "View session",
    days: (first: string, last: string) => (first === last ? first : `${first} to ${last}`),
    times: (earliest: string, latest: string) => `${earliest} to ${latest}`,
    anyTime: "at any time",
    anyOf: (n: number) => `Any of ${s(n, "session")}`,
  },
  any: {
    title: "Wait for one of several sessions",
    note: "Choose full sessions. Once you get a seat in one of them, you leave the waitlist of the others.",
    none: "No full sessions with a waitlist",
    join: (n: number) => (n > 1 ? `Join waitlist for any of ${n}` : "Join waitlist"),
    here: "Wait for one of several sessions",
    or: "Or choose several full sessions",
  },
};
