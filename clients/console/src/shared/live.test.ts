import { EventType } from "@berthhq/client";
import { expect, it } from "vitest";
import { backoff, newsOf } from "./live";

it("reads again what may have changed, and no more", () => {
  expect(newsOf([])).toBeUndefined();
  for (const type of [EventType.OFFER_EXPIRED, EventType.OFFER_EXTENDED]) {
    expect(newsOf([{ type: EventType.BOOKING_CONFIRMED }, { type }])).toBe("schedule");
  }
  expect(newsOf([{ type: EventType.BOOKING_CONFIRMED }, { type: EventType.ROLES_CHANGED }])).toBe(
    "all",
  );
  expect(newsOf([{ type: EventType.UNSPECIFIED }])).toBe("all");
});

it("waits longer each time, within bounds", () => {
  expect([0, 1, 2, 9].map((attempt) => backoff(attempt, () => 1))).toEqual([
    250, 500, 1000, 10_000,
  ]);
  expect(backoff(9, () => 0)).toBe(5000);
});
