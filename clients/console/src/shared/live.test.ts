import { EventType } from "@berthhq/client";
import { expect, it } from "vitest";
import { backoff, scopeOf } from "./live";

it("refetches what may have changed, and nothing else", () => {
  expect(scopeOf([])).toBeUndefined();
  for (const type of [EventType.OFFER_EXPIRED, EventType.OFFER_EXTENDED]) {
    expect(scopeOf([{ type: EventType.BOOKING_CONFIRMED }, { type }])).toBe("schedule");
  }
  expect(scopeOf([{ type: EventType.BOOKING_CONFIRMED }, { type: EventType.ROLES_CHANGED }])).toBe(
    "all",
  );
  expect(scopeOf([{ type: EventType.UNSPECIFIED }])).toBe("all");
});

it("backs off exponentially, within bounds", () => {
  expect([0, 1, 2, 9].map((attempt) => backoff(attempt, () => 1))).toEqual([
    250, 500, 1000, 10_000,
  ]);
  expect(backoff(9, () => 0)).toBe(5000);
});
