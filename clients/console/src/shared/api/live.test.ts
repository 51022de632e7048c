import { EventSchema, EventType, ListSessionsResponseSchema, SessionSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { expect, it, vi } from "vitest";
import { isStale, type Scope, scopeOf, seatsOf, wider, withSeats } from "./live";

it("refetches what may have changed, and nothing else", () => {
  expect(scopeOf([])).toBeUndefined();
  for (const type of [EventType.OFFER_EXPIRED, EventType.OFFER_EXTENDED]) {
    expect(scopeOf([{ type: EventType.BOOKING_CONFIRMED }, { type }])).toBe("schedule");
  }
  expect(scopeOf([{ type: EventType.BOOKING_CONFIRMED }, { type: EventType.ACCESS_CHANGED }])).toBe(
    "all",
  );
  expect(scopeOf([{ type: EventType.UNSPECIFIED }])).toBe("all");
  expect(scopeOf([{ type: EventType.SESSION_SEATS_CHANGED }])).toBeUndefined();
});

it("changes open seats in answers, and says when a session became full", () => {
  const seats = (left: number) =>
    seatsOf([
      create(EventSchema, {
        sessionId: "a",
        details: { case: "seats", value: { seatsOpen: left } },
      }),
      create(EventSchema, { sessionId: "b" }),
    ]);
  const [a, b] = ["a", "b"].map((id) =>
    create(SessionSchema, { id, capacity: 5, seatsOpen: 3, seatsTaken: 2 }),
  );
  const onTurn = vi.fn();
  const lists = [[a, b], create(ListSessionsResponseSchema, { sessions: [a, b] as never[] })];
  for (const list of lists) {
    expect(withSeats(list, seats(3), onTurn)).toBe(list);
    const changed = withSeats(list, seats(1), onTurn) as typeof list;
    const sessions = Array.isArray(changed) ? changed : changed.sessions;
    expect(sessions[0]).toMatchObject({ id: "a", seatsOpen: 1, seatsTaken: 4 });
    expect(sessions[1]).toBe(b);
  }
  expect(onTurn).not.toHaveBeenCalled();
  withSeats({ session: a }, seats(0), onTurn);
  expect(onTurn).toHaveBeenCalledOnce();
});

it("keeps the widest scope of those that wait", () => {
  expect(wider(undefined, "schedule")).toBe("schedule");
  expect(wider("schedule", "missed")).toBe("missed");
  expect(wider("missed", "schedule")).toBe("missed");
  expect(wider("all", "missed")).toBe("all");
  expect(wider("missed", "all")).toBe("all");
});

it("asks for the user again only if something changed about access", () => {
  const me = {
    queryKey: ["connect", { serviceName: "berth.v1.MemberService" }],
    meta: { me: true },
  };
  const member = { queryKey: ["connect", { serviceName: "berth.v1.MemberService" }], meta: {} };
  const sessions = { queryKey: ["connect", { serviceName: "berth.v1.SessionService" }], meta: {} };
  const stale = (scope: Scope) => [me, member, sessions].map((query) => isStale(scope, query));
  expect(stale("all")).toEqual([true, true, true]);
  expect(stale("missed")).toEqual([false, true, true]);
  expect(stale("schedule")).toEqual([false, false, true]);
});
