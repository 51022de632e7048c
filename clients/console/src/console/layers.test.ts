import { WaitlistRulesSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { snake, writeAll } from "./layers";

it("writes what was typed as the contract has it, and leaves out what is inherited", () => {
  const minute = 60_000;
  const kinds = {
    enabled: "switch",
    maxQueueSize: "number",
    offerWindow: "minutes",
    staleAfter: "hours",
    timeFlexibility: "minutes",
    autoCascade: "switch",
    eligibilityExpression: "expression",
    quietHours: "night",
    tierBonuses: "bonuses",
    baseScore: "number",
  } as const;
  const written = writeAll(
    {
      enabled: false,
      maxQueueSize: 20,
      offerWindow: 45 * minute,
      staleAfter: 36 * 60 * minute,
      timeFlexibility: 0,
      autoCascade: true,
      eligibilityExpression: "",
      quietHours: { start: "22:30", end: "07:00" },
      tierBonuses: [
        { tier: "gold", points: 50 },
        { tier: " ", points: 3 }, // not typed yet
      ],
      baseScore: undefined,
    },
    kinds,
  );
  const rules = create(WaitlistRulesSchema, written);
  expect(rules.enabled).toBe(false);
  expect(rules.maxQueueSize).toBe(20);
  expect(rules.offerWindow?.seconds).toBe(2700n);
  expect(rules.staleAfter?.seconds).toBe(129_600n);
  expect(rules.timeFlexibility?.seconds).toBe(0n);
  expect(rules.autoCascade).toBe(true);
  expect(rules.eligibilityExpression).toBe("");
  expect(rules.quietHours).toMatchObject({
    start: { hours: 22, minutes: 30 },
    end: { hours: 7, minutes: 0 },
  });
  expect(rules.tierBonuses?.bonuses).toMatchObject([{ tier: "gold", points: 50 }]);
  expect("baseScore" in written).toBe(false);
  expect(Object.keys(kinds).map(snake).slice(0, 3)).toEqual([
    "enabled",
    "max_queue_size",
    "offer_window",
  ]);
});
