import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  BookingStatus,
  ErrorReason,
  PlanKind,
  WaitlistEntryStatus,
  WaitlistOfferStatus,
} from "../src/index.js";
import { as, club, newSession, protocols, refusal, salon } from "./berth.js";

describe.each(protocols)("booking over $name", (protocol) => {
  it("books a seat once, and says so in headers", async () => {
    const { bookings } = as("member", protocol);
    const sessionId = await newSession(4);
    const key = `key-of-a-gateway-${sessionId}`;

    let headers = new Headers();
    const book = () =>
      bookings.book(
        { sessionId, partySize: 2 },
        {
          headers: { "Idempotency-Key": key },
          onHeader: (answered) => {
            headers = answered;
          },
        },
      );
    const { outcome } = await book();
    expect(outcome).toMatchObject({
      case: "booking",
      value: { session: { id: sessionId }, partySize: 2, status: BookingStatus.CONFIRMED },
    });
    expect(headers.get("X-Booking-Status")).toBe("CONFIRMED");
    expect(headers.get("X-Idempotent")).toBe("false");
    expect(headers.get("X-Idempotency-Key")).toBe(key);

    expect((await book()).outcome).toEqual(outcome);
    expect(headers.get("X-Idempotent")).toBe("true");

    expect(await refusal(bookings.book({ sessionId }))).toMatchObject({
      reason: ErrorReason.ALREADY_BOOKED,
      reasonName: "ALREADY_BOOKED",
      code: Code.AlreadyExists,
      metadata: { booking_id: outcome.value?.id },
      violations: [],
    });
  });

  it("returns the same booking for the same external reference", async () => {
    const { bookings } = as("member", protocol);
    const sessionId = await newSession(4);
    const externalRef = `order-${sessionId}`;
    const repeated: (string | null)[] = [];
    const onHeader = (headers: Headers) => {
      repeated.push(headers.get("X-Idempotent"));
    };

    const first = await bookings.book({ sessionId, externalRef }, { onHeader });
    const again = await bookings.book({ sessionId, externalRef }, { onHeader });
    expect(again.outcome).toEqual(first.outcome);
    expect(repeated).toEqual(["false", "true"]);

    const other = bookings.book({ sessionId, externalRef, partySize: 2 });
    expect(await refusal(other)).toMatchObject({
      reason: ErrorReason.EXTERNAL_REF_CONFLICT,
      code: Code.AlreadyExists,
    });
  });

  it("shows the roster to a coach but not to a member", async () => {
    const member = as("member", protocol);
    const sessionId = await newSession(4);
    const { outcome } = await member.bookings.book({ sessionId });

    const roster = await as("coach", protocol).bookings.getSessionRoster({ sessionId });
    expect(roster).toMatchObject({
      bookings: [{ id: outcome.value?.id, memberName: "Mona Member" }],
      entries: [],
      capacity: 4,
      seatsTaken: 1,
    });
    expect(await refusal(member.bookings.getSessionRoster({ sessionId }))).toMatchObject({
      reason: ErrorReason.PERMISSION_DENIED,
      code: Code.PermissionDenied,
      metadata: { permission: "booking.roster" },
    });
  });

  it("takes a credit and refunds it on cancellation", async () => {
    const member = as("member", protocol, salon);
    const { credits } = as("owner", protocol, salon);
    const sessionId = await newSession(1, salon);
    const me = (await member.members.getMe({})).member;
    const { plan } = await credits.createPlan({
      plan: { name: `Pack for ${sessionId}`, kind: PlanKind.CREDITS, credits: 3, active: true },
    });
    const { subscription } = await credits.createSubscription({
      memberId: me?.id ?? "",
      subscription: { planId: plan?.id ?? "" },
    });
    const balance = async () => {
      const { subscriptions } = await member.credits.getBalance({});
      return subscriptions.find(({ id }) => id === subscription?.id)?.balance;
    };

    const { outcome } = await member.bookings.book({
      sessionId,
      subscriptionId: subscription?.id ?? "",
    });
    expect(outcome.value).toMatchObject({ subscriptionId: subscription?.id, credits: 1 });
    expect(await balance()).toBe(2);

    const cancelled = await member.bookings.cancelBooking({ bookingId: outcome.value?.id ?? "" });
    expect(cancelled).toMatchObject({
      booking: { status: BookingStatus.CANCELLED, credits: 0 },
      creditRefunded: true,
      late: false,
    });
    expect(await balance()).toBe(3);
  });

  it("offers a freed seat to the waitlist until it is accepted", async () => {
    const coach = as("coach", protocol).bookings;
    const { bookings: member, waitlist } = as("member", protocol);
    const sessionId = await newSession(1, club, 29); // outside the time windows and lists of other tests
    const taken = await coach.book({ sessionId });

    let status: string | null = "";
    const waiting = await member.book(
      { sessionId },
      {
        onHeader: (headers) => {
          status = headers.get("X-Booking-Status");
        },
      },
    );
    expect(status).toBe("WAITLISTED");
    expect(waiting.outcome).toMatchObject({
      case: "entry",
      value: { status: WaitlistEntryStatus.WAITING, position: 1 },
    });

    const freed = await coach.cancelBooking({ bookingId: taken.outcome.value?.id ?? "" });
    expect(freed.promoted).toBe(0);
    const { entries } = await waitlist.listWaitlistEntries({});
    const offer = entries.find(
      (entry) => entry.target.case === "session" && entry.target.value.id === sessionId,
    )?.liveOffer;
    expect(offer).toMatchObject({
      status: WaitlistOfferStatus.LIVE,
      seats: 1,
      firstToClaim: false,
    });

    const accepted = await waitlist.acceptWaitlistOffer({ offerId: offer?.id ?? "" });
    expect(accepted.booking).toMatchObject({ status: BookingStatus.CONFIRMED, promoted: true });
    const { bookings } = await coach.getSessionRoster({ sessionId });
    expect(bookings).toMatchObject([{ id: accepted.booking?.id, promoted: true }]);
  });
});
