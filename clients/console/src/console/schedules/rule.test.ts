import { describe, expect, it } from "vitest";
import { Temporal } from "../../shared/format/time";
import { occurrences, type Rule, readRule, usual, writeRule } from "./rule";

const day = (text: string) => Temporal.PlainDate.from(text);

/** The 25th is the fourth and last Wednesday of its month. */
const start = day("2026-03-25");

const rule = (part: Partial<Rule>): Rule => ({ ...usual(start), ...part });

it.each<[Partial<Rule>, string]>([
  [{ days: ["WE", "MO"], end: { count: 12 } }, "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12"],
  [
    { days: ["SU"], every: 2, end: { until: "2026-03-29" } },
    "FREQ=WEEKLY;BYDAY=SU;INTERVAL=2;UNTIL=20260329T235959Z",
  ],
  [{ frequency: "DAILY", every: 3, end: { count: 4 } }, "FREQ=DAILY;INTERVAL=3;COUNT=4"],
  [{ frequency: "MONTHLY", end: { count: 6 } }, "FREQ=MONTHLY;BYMONTHDAY=25;COUNT=6"],
  [{ frequency: "MONTHLY", on: "nth", end: { count: 6 } }, "FREQ=MONTHLY;BYDAY=4WE;COUNT=6"],
  [{ frequency: "MONTHLY", on: "last", end: { count: 6 } }, "FREQ=MONTHLY;BYDAY=-1WE;COUNT=6"],
])("round-trips %o through RFC 5545", (part, text) => {
  expect(writeRule(rule(part), start)).toBe(text);
  expect(writeRule(readRule(text, start) ?? rule({}), start)).toBe(text);
});

describe("the dates of a series", () => {
  it.each<[string, Partial<Rule>, string, readonly string[]]>([
    [
      // Monday of that week has passed.
      "weekly",
      { days: ["MO", "WE"], end: { count: 3 } },
      "2026-03-25",
      ["2026-03-25", "2026-03-30", "2026-04-01"],
    ],
    [
      "every other week",
      { days: ["WE"], every: 2, end: { until: "2026-04-22" } },
      "2026-03-25",
      ["2026-03-25", "2026-04-08", "2026-04-22"],
    ],
    ["on no day of the week", { days: [], end: { count: 3 } }, "2026-03-25", []],
    [
      "every third day",
      { frequency: "DAILY", every: 3, end: { count: 3 } },
      "2026-02-27",
      ["2026-02-27", "2026-03-02", "2026-03-05"],
    ],
    [
      "monthly on a date that some months lack",
      { frequency: "MONTHLY", end: { count: 3 } },
      "2026-01-31",
      ["2026-01-31", "2026-03-31", "2026-05-31"],
    ],
    [
      "monthly on a fifth weekday, which most months lack",
      { frequency: "MONTHLY", on: "nth", end: { count: 2 } },
      "2026-01-30",
      ["2026-01-30", "2026-05-29"],
    ],
    [
      "monthly on the last weekday",
      { frequency: "MONTHLY", on: "last", end: { count: 3 } },
      "2026-03-25",
      ["2026-03-25", "2026-04-29", "2026-05-27"],
    ],
    [
      "every other month on the second weekday",
      { frequency: "MONTHLY", on: "nth", every: 2, end: { until: "2026-07-31" } },
      "2026-03-10",
      ["2026-03-10", "2026-05-12", "2026-07-14"],
    ],
  ])("%s", (_, part, from, want) => {
    expect(occurrences(day(from), rule(part), 100).map(String)).toEqual(want);
  });
});

it("accepts weekdays in any order", () => {
  expect(readRule("FREQ=WEEKLY;BYDAY=WE,MO;COUNT=3", start)?.days).toEqual(["MO", "WE"]);
});

it.each([
  "FREQ=MONTHLY;BYDAY=1MO;COUNT=3",
  "FREQ=MONTHLY;BYMONTHDAY=1,15;COUNT=3",
  "FREQ=MONTHLY;COUNT=3",
  "FREQ=DAILY;BYDAY=MO;COUNT=3",
  "FREQ=YEARLY;COUNT=3",
  "FREQ=WEEKLY;COUNT=3",
  "FREQ=WEEKLY;BYDAY=MO",
  "FREQ=WEEKLY;BYDAY=MO;BYHOUR=7,9;COUNT=3",
  "FREQ=WEEKLY;BYDAY=MO;WKST=SU;COUNT=3",
  "",
])("does not parse what the editor cannot express: %s", (text) => {
  expect(readRule(text, start)).toBeUndefined();
});
