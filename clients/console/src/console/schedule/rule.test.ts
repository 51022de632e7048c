import { describe, expect, it } from "vitest";
import { Temporal } from "../../shared/time";
import { occurrences, readRule, writeRule } from "./rule";

const day = (text: string) => Temporal.PlainDate.from(text);

it("writes rules as RFC 5545 has them", () => {
  expect(writeRule({ days: ["WE", "MO"], every: 1, end: { count: 12 } })).toBe(
    "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12",
  );
  expect(writeRule({ days: ["SU"], every: 2, end: { until: "2026-03-29" } })).toBe(
    "FREQ=WEEKLY;BYDAY=SU;INTERVAL=2;UNTIL=20260329T235959Z",
  );
});

it("tells the days beforehand", () => {
  const days = (rule: Parameters<typeof occurrences>[1], from = "2026-03-25") =>
    occurrences(day(from), rule, 100).map(String);
  // The 25th is a Wednesday: Monday of that week is over.
  expect(days({ days: ["MO", "WE"], every: 1, end: { count: 3 } })).toEqual([
    "2026-03-25",
    "2026-03-30",
    "2026-04-01",
  ]);
  expect(days({ days: ["WE"], every: 2, end: { until: "2026-04-22" } })).toEqual([
    "2026-03-25",
    "2026-04-08",
    "2026-04-22",
  ]);
  expect(days({ days: [], every: 1, end: { count: 3 } })).toEqual([]);
});

describe("a rule that is read", () => {
  it.each([
    { days: ["MO", "WE"], every: 1, end: { count: 12 } },
    { days: ["SU"], every: 2, end: { until: "2026-06-30" } },
  ] as const)("is the one that was written: %o", (rule) => {
    expect(readRule(writeRule(rule))).toEqual(rule);
  });

  it.each([
    "FREQ=DAILY;COUNT=3",
    "FREQ=MONTHLY;BYDAY=1MO;COUNT=3",
    "FREQ=WEEKLY;BYDAY=MO",
    "FREQ=WEEKLY;BYDAY=MO;BYHOUR=7,9;COUNT=3",
    "FREQ=WEEKLY;BYDAY=MO;WKST=SU;COUNT=3",
    "",
  ])("is left alone where weeks do not say it: %s", (rule) => {
    expect(readRule(rule)).toBeUndefined();
  });
});
