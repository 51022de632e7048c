import { describe, expect, inject, it } from "vitest";
import {
  createBerthClient,
  createCachingTransport,
  EligibilityStatus,
  ErrorReason,
} from "../src/index.js";
import { as, club, connectWithGet, days, newSession, protocols, refusal } from "./berth.js";
import type { Role } from "./server.js";

const { address } = inject("berth");

describe.each(protocols)("the schedule over $name", (protocol) => {
  it("tells for each session of a week whether the caller can book it", async () => {
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

  it("has each session on exactly one page", async () => {
    const { sessions } = as("member", protocol);
    // Outside the days of other tests.
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
  it("serves only calls without side effects", async () => {
    const methods: unknown[] = [];
    const { bookings, sessions } = as(
      "member",
      connectWithGet((method) => methods.push(method)),
    );
    const sessionId = await newSession(4);

    const read = await sessions.getSession({ sessionId });
    await bookings.book({ sessionId });
    const refused = await refusal(bookings.getSessionRoster({ sessionId }));

    expect(read.session?.id).toBe(sessionId);
    expect(refused).toMatchObject({
      reason: ErrorReason.PERMISSION_DENIED,
      metadata: { permission: "booking.roster" },
    });
    expect(methods).toEqual(["GET", "POST", "GET"]);
  });

  it("does not send a browser an unchanged answer again", async () => {
    const kept = new Map<string, Response>();
    const statuses: number[] = [];
    /** Node.js has no HTTP cache. This one implements `no-cache` of RFC 9111, shared by all callers. */
    const caching: typeof fetch = async (input, init) => {
      if (init?.method !== "GET") return fetch(input, init);
      const url = String(input);
      const before = kept.get(url);
      const headers = new Headers(init.headers);
      if (before) headers.set("If-None-Match", before.headers.get("ETag") ?? "");
      const answer = await fetch(url, { ...init, headers });
      statuses.push(answer.status);
      if (answer.status === 304 && before) return before.clone();
      kept.set(url, answer.clone());
      return answer;
    };
    const person = (role: Role) =>
      createBerthClient({
        baseUrl: address,
        token: club.tokens[role],
        transport: (to) => createCachingTransport({ ...to, fetch: caching }),
      });
    const member = person("member");
    const sessionId = await newSession(4);
    const seats = async (who = member) =>
      (await who.sessions.getSession({ sessionId })).session?.seatsOpen;

    expect([await seats(), await seats()]).toEqual([4, 4]);
    await member.bookings.book({ sessionId });
    expect([await seats(), await seats()]).toEqual([3, 3]);
    expect(await seats(person("coach"))).toBe(3);
    await member.members.getMe({});
    expect(statuses).toEqual([200, 304, 200, 304, 200]);
    const [answer] = kept.values();
    expect(answer?.headers.get("Cache-Control")).toBe("private, no-cache");
    expect(answer?.headers.get("Vary")).toContain("Authorization");
  });
});
