import { describe, expect, it } from "vitest";
import { EligibilityStatus, ErrorReason } from "../src/index.js";
import { as, connectWithGet, days, newSession, protocols, refusal } from "./berth.js";

describe.each(protocols)("the schedule over $name", (protocol) => {
  it("tells of every session in the week what the caller may do with it", async () => {
    const { bookings, sessions } = as("member", protocol);
    const [mine, other] = [await newSession(4), await newSession(4)];
    const { outcome } = await bookings.book({ sessionId: mine });

    const week = await sessions.listSessions({
      filter: { startsWithin: days(0, 7) },
      pageSize: 500,
    });

    const eligibility = new Map(week.sessions.map((s) => [s.id, s.eligibility]));
    expect([...eligibility.values()]).not.toContain(undefined);
    expect(eligibility.get(other)).toMatchObject({ status: EligibilityStatus.ELIGIBLE });
    expect(eligibility.get(mine)).toMatchObject({
      status: EligibilityStatus.BOOKED,
      bookingId: outcome.value?.id,
    });
  });

  it("comes in pages that together hold each session once", async () => {
    const { sessions } = as("member", protocol);
    // Beyond the days on which other tests put their sessions.
    const filter = { startsWithin: days(7, 28) };
    const whole = await sessions.listSessions({ filter, pageSize: 500 });
    expect(whole.sessions.length).toBeGreaterThan(90);

    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await sessions.listSessions({ filter, pageSize: 30, pageToken });
      expect(page.sessions.length).toBeLessThanOrEqual(30);
      ids.push(...page.sessions.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(ids).toEqual(whole.sessions.map(({ id }) => id));
  });
});

describe("HTTP GET", () => {
  it("serves what has no side effects, and nothing else", async () => {
    const methods: unknown[] = [];
    const { bookings, sessions } = as(
      "member",
      connectWithGet((method) => methods.push(method)),
    );
    const sessionId = await newSession(4);

    const read = await sessions.getSession({ sessionId });
    await bookings.book({ sessionId });
    const refused = await refusal(bookings.listRoster({ sessionId }));

    expect(read.session?.id).toBe(sessionId);
    expect(refused).toMatchObject({
      reason: ErrorReason.PERMISSION_DENIED,
      metadata: { permission: "booking.roster" },
    });
    expect(methods).toEqual(["GET", "POST", "GET"]);
  });
});
