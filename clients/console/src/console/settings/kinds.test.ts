import { PolicySchema, WaitlistRulesSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/format/time";
import { en } from "../first-texts/en";
import { type Kinds, readAll, writeAll } from "./kind";
import {
  bonuses,
  choice,
  expression,
  flag,
  limit,
  meters,
  night,
  number,
  span,
  windows,
} from "./kinds";

const kinds: Kinds = {
  cancellationWindow: span("hours"),
  tierCancellations: windows,
  allowReschedule: flag,
  gpsMaxMeters: meters,
  holdTtl: span("minutes"),
};

const policy = create(PolicySchema, {
  cancellationWindow: durationFromMs(26 * HOUR),
  tierCancellations: {
    overrides: [{ tier: "gold", cancellationWindow: durationFromMs(4 * HOUR) }],
  },
  allowReschedule: false,
  gpsMaxMeters: 250,
});

it("reads the values of a level; the rest is inherited", () => {
  expect(readAll(policy, kinds)).toEqual({
    cancellationWindow: 26 * HOUR,
    tierCancellations: [{ tier: "gold", hours: 4 }],
    allowReschedule: false,
    gpsMaxMeters: 250,
    holdTtl: undefined,
  });
  expect(Object.values(readAll(undefined, kinds))).toEqual(Array(5).fill(undefined));
});

it("round-trips a policy", () => {
  expect(create(PolicySchema, writeAll(readAll(policy, kinds), kinds))).toEqual(policy);
});

it("round-trips waitlist rules", () => {
  const these: Kinds = {
    mode: choice({ 0: "", 1: "first", 2: "second" }),
    quietHours: night,
    tierBonuses: bonuses,
    eligibilityExpression: expression,
    baseScore: number(0, 10_000),
    maxOffersPerEntry: limit(100),
    maxTriesPerSlot: limit(1000),
  };
  const rules = create(WaitlistRulesSchema, {
    mode: 2,
    quietHours: { start: { hours: 22 }, end: { hours: 7, minutes: 30 } },
    tierBonuses: { bonuses: [{ tier: "gold", points: 20 }] },
    eligibilityExpression: "true",
    baseScore: 100,
    maxOffersPerEntry: { max: 7 },
    maxTriesPerSlot: {},
  });
  expect(create(WaitlistRulesSchema, writeAll(readAll(rules, these), these))).toEqual(rules);
});

it("writes empty values, but no inherited ones", () => {
  const these: Kinds = {
    enabled: flag,
    timeFlexibility: span("minutes"),
    eligibilityExpression: expression,
    baseScore: number(0, 10_000),
  };
  const set = { enabled: false, timeFlexibility: 0, eligibilityExpression: "" };
  const written = writeAll({ ...set, baseScore: undefined }, these);
  expect(written).toEqual({
    enabled: false,
    timeFlexibility: durationFromMs(0),
    eligibilityExpression: "",
  });
});

it("skips tiers without a name", () => {
  expect(windows.write([{ tier: " ", hours: 4 }])).toEqual({ overrides: [] });
  expect(bonuses.write([{ tier: " gold ", points: 5 }])).toEqual({
    bonuses: [{ tier: "gold", points: 5 }],
  });
});

it.each([
  [span("hours").show(26 * HOUR, en), "1 d 2 h"],
  [flag.show(true, en), "Yes"],
  [meters.show(250, en), "250 m"],
  [choice({ 0: "", 1: "first" }).show(1, en), "first"],
  [night.show({ start: "22:00", end: "07:00" }, en), "22:00–07:00"],
  [night.show({ start: "07:00", end: "07:00" }, en), "None"],
  [windows.show([{ tier: "gold", hours: 4 }], en), "gold: 4 h"],
  [bonuses.show([], en), "None"],
  [expression.show("", en), "–"],
])("formats %s", (shown, want) => {
  expect(shown).toBe(want);
});

it.each([
  ["less than the least", number(1, 10).wrong?.(0, en), "Must be between 1 and 10."],
  ["no number yet", number(1, 10).wrong?.(Number.NaN, en), "Must be between 1 and 10."],
  ["the most", number(1, 10).wrong?.(10, en), undefined],
  ["no time", span("minutes", MINUTE, DAY).wrong?.(0, en), "Must be between 1 min and 1 d."],
  ["any time", span("minutes").wrong?.(90 * DAY, en), undefined],
  ["no morning", night.wrong?.({ start: "21:00", end: "" }, en), en.policies.nightTooLong],
  ["all day long", night.wrong?.({ start: "21:00", end: "20:30" }, en), en.policies.nightTooLong],
  ["no night", night.wrong?.({ start: "21:00", end: "21:00" }, en), undefined],
  [
    "a tier twice",
    bonuses.wrong?.(
      [
        { tier: "gold", points: 5 },
        { tier: " gold", points: 6 },
      ],
      en,
    ),
    "“gold” is listed twice.",
  ],
])("validates %s", (_, told, want) => {
  expect(told).toBe(want);
});
