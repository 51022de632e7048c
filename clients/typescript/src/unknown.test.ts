import { Code } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BookingStatus, berthError, createBerthClient, ErrorReason } from "./index.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A client of a server that is newer than the client, and answers each call with this JSON. */
function newerServer(answer: unknown, status = 200) {
  vi.stubGlobal("fetch", async () =>
    Response.json(answer, { status, headers: { "Content-Type": "application/json" } }),
  );
  return createBerthClient({
    baseUrl: "https://berth.example",
    token: "token",
    retries: 0,
    transport: createConnectTransport,
  });
}

/** A message of a stream: a flag, a length and JSON. */
function frame(flag: number, message: unknown): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(message));
  const framed = new Uint8Array(5 + json.length);
  framed[0] = flag;
  new DataView(framed.buffer).setUint32(1, json.length);
  framed.set(json, 5);
  return framed;
}

describe("a server that is newer", () => {
  it("answers with fields, and values of enums, that are not known", async () => {
    const { bookings } = newerServer({
      booking: { id: "b", status: "BOOKING_STATUS_TIDAL", channel: 99, tide: "low" },
    });
    const { booking } = await bookings.getBooking({ bookingId: "b" });
    expect(booking).toMatchObject({ id: "b", status: BookingStatus.UNSPECIFIED, channel: 99 });
  });

  it("answers with a case of a oneof that is not known", async () => {
    const { bookings } = newerServer({ tide: { id: "t" } });
    const { outcome } = await bookings.book({ sessionId: "s" });
    expect(outcome).toEqual({ case: undefined });
  });

  it("refuses for a reason that is not known", async () => {
    const { bookings } = newerServer(
      {
        code: "failed_precondition",
        message: "The tide is too low.",
        details: [
          {
            type: "google.rpc.ErrorInfo",
            // reason "TIDE_TOO_LOW", domain "berth"
            value: btoa("\x0a\x0cTIDE_TOO_LOW\x12\x05berth").replaceAll("=", ""),
          },
        ],
      },
      400,
    );
    const thrown = await bookings.cancelBooking({ bookingId: "b" }).catch((e: unknown) => e);
    expect(berthError(thrown)).toMatchObject({
      code: Code.FailedPrecondition,
      reason: ErrorReason.UNSPECIFIED,
      reasonName: "TIDE_TOO_LOW",
      message: "The tide is too low.",
    });
  });

  it("sends events that are not known", async () => {
    const event = { id: "e", type: "EVENT_TYPE_TIDE", tide: { level: 2 } };
    const body = frame(0, { events: [event], cursor: "1" });
    const headers = { "Content-Type": "application/connect+json" };
    const { watch } = newerServer({});
    vi.stubGlobal("fetch", async () => new Response(body as BodyInit, { headers }));
    for await (const { id, type, details } of watch({ cursor: "0" })) {
      expect({ id, type, details }).toEqual({ id: "e", type: 0, details: { case: undefined } });
      break;
    }
    expect.assertions(1);
  });
});
