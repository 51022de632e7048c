import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { describe, expect, inject, it } from "vitest";
import {
  all,
  type BerthClientOptions,
  createBerthClient,
  ErrorReason,
  EventType,
  pages,
} from "../src/index.js";
import { club, days, newSession, refusal, salon } from "./berth.js";
import type { Role } from "./server.js";

const { address } = inject("berth");

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const ways: [string, Pick<BerthClientOptions, "transport">][] = [
  ["Connect", {}],
  [
    "Connect over HTTP/2",
    { transport: (to) => createConnectTransport({ ...to, httpVersion: "2" }) },
  ],
  ["gRPC-Web", { transport: createGrpcWebTransport }],
  ["gRPC", { transport: createGrpcTransport }],
];

describe.each(ways)("the client over %s", (_, transport) => {
  const as = (role: Role, options: Partial<BerthClientOptions> = {}) =>
    createBerthClient({ baseUrl: address, token: club.tokens[role], ...transport, ...options });

  it("sends an idempotency key with each mutation", async () => {
    const member = as("member");
    const sessionId = await newSession(4);
    const keys: (string | null)[] = [];
    const onHeader = (headers: Headers) => void keys.push(headers.get("X-Idempotency-Key"));
    const { outcome } = await member.bookings.book({ sessionId }, { onHeader });
    const bookingId = outcome.value?.id ?? "";
    await member.bookings.cancelBooking({ bookingId }, { onHeader });
    expect(keys).toEqual([expect.stringMatching(/^\w{32}$/), expect.stringMatching(/^\w{32}$/)]);
    expect(keys[0]).not.toBe(keys[1]);
  });

  it("exchanges a service account's key until the account is revoked", async () => {
    const owner = as("owner");
    const { key, serviceAccount } = await owner.access.createServiceAccount({
      serviceAccount: { name: `for ${_} ${Date.now()}`, roles: ["partner"] },
    });
    const partner = as("partner", { token: undefined, key });
    expect((await partner.tenants.getTenant({})).tenant?.id).toBe(club.id);

    await owner.access.revokeServiceAccount({ serviceAccountId: serviceAccount?.id ?? "" });
    // Its token has not expired, but is no longer accepted.
    expect(await refusal(partner.tenants.getTenant({}))).not.toMatchObject({
      reason: ErrorReason.UNSPECIFIED,
    });
    const late = as("partner", { token: undefined, key });
    expect(await refusal(late.tenants.getTenant({}))).toMatchObject({
      reason: ErrorReason.KEY_INVALID,
    });
  });

  it("renews a token that the server rejects", async () => {
    let refreshed = 0;
    const refresh = async () => {
      refreshed++;
      return club.tokens.member;
    };
    const member = as("member", { token: "not.a.token", refresh });
    await Promise.all([member.members.getMe({}), member.members.getMe({})]);
    expect(refreshed).toBe(1);
  });

  it("sets the tenant of requests without one", async () => {
    const call = as("member", { tenantId: salon.id }).members.getMe({});
    expect(await refusal(call)).toMatchObject({ reason: ErrorReason.TENANT_FORBIDDEN });
    const own = await as("member", { tenantId: club.id }).members.getMe({});
    expect(own.member?.name).toBe("Mona Member");
  });

  it("reads all pages of a list", async () => {
    const { sessions } = as("member");
    // Outside the days of other tests.
    const filter = { startsWithin: days(7, 28) };
    const ids: string[] = [];
    const request = { filter, pageSize: 40 };
    for await (const { id } of all(sessions.listSessions, request, (page) => page.sessions)) {
      ids.push(id);
    }
    const whole = await sessions.listSessions({ filter, pageSize: 500 });
    expect(ids).toEqual(whole.sessions.map(({ id }) => id));
    let count = 0;
    for await (const page of pages(sessions.listSessions, request)) {
      expect(page.sessions.length).toBeLessThanOrEqual(40);
      count++;
    }
    expect(count).toBe(Math.ceil(ids.length / 40));
  });

  it("watches events and resumes from a cursor", async () => {
    const member = as("member");
    const sessionId = await newSession(4);
    const filter = { sessionId };
    const seen: [EventType, string][] = [];
    let cursor = "";
    let watching = Promise.resolve();
    await new Promise<string>((onCursor, reject) => {
      watching = (async () => {
        for await (const event of as("coach").watch({ filter }, { onCursor })) {
          seen.push([event.type, event.bookingId]);
          cursor = event.cursor;
          break;
        }
      })();
      watching.catch(reject);
    });
    const bookingId = (await member.bookings.book({ sessionId })).outcome.value?.id ?? "";
    await watching;
    await member.bookings.cancelBooking({ bookingId });
    await member.bookings.book({ sessionId });
    for await (const event of as("coach").watch({ filter, cursor })) {
      seen.push([event.type, event.bookingId]);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([
      [EventType.BOOKING_CONFIRMED, bookingId],
      [EventType.BOOKING_CANCELLED, bookingId],
      [EventType.BOOKING_CONFIRMED, expect.not.stringContaining(bookingId)],
    ]);
  });

  it("leaves a watch at once, even after a garbage collection", async () => {
    const leave = new AbortController();
    let watching = Promise.resolve();
    await new Promise<string>((onCursor, reject) => {
      watching = (async () => {
        // Ignore the events of other tests.
        const request = { filter: { sessionId: club.session_id } };
        for await (const _ of as("coach").watch(request, { onCursor, signal: leave.signal }));
      })();
      watching.catch(reject);
    });
    for (let i = 0; i < 10; i++) {
      await nextTurn();
      collectGarbage();
    }
    leave.abort();
    await watching;
  });
});
