import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type HandlerContext,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { credentials } from "./credentials.js";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import {
  AccessService,
  BookingService,
  type GetBookingRequest,
  GetBookingRequestSchema,
} from "./index.js";
import { backoff, type CallPolicy, pause, withRetries } from "./transport.js";

function refusal(code: Code, reason: string, metadata: Record<string, string> = {}): ConnectError {
  return new ConnectError(reason, code, undefined, [
    { desc: ErrorInfoSchema, value: { domain: "berth", reason, metadata } },
  ]);
}

const contention = refusal(Code.Unavailable, "CONTENTION");
const lost = new ConnectError("connection reset", Code.Unavailable);
const fetchFailed = new ConnectError("failed", Code.Unknown, undefined, undefined, new TypeError());

/** A service that fails each call with the next given error, and then succeeds. */
function setup(given: readonly (ConnectError | undefined)[], policy: Partial<CallPolicy> = {}) {
  const heard: { headers: Headers; request: unknown; timeoutMs: number | undefined }[] = [];
  const waits: number[] = [];
  function meet(request: unknown, context: HandlerContext) {
    const error = given[heard.length];
    heard.push({ headers: context.requestHeader, request, timeoutMs: context.timeoutMs() });
    if (error) throw error;
    return {};
  }
  const impl: Partial<ServiceImpl<typeof BookingService>> = {
    book: meet,
    getBooking: meet,
  };
  const inner = createRouterTransport(({ service }) => {
    service(BookingService, impl);
    service(AccessService, { exchangeKey: meet });
  });
  const transport: Transport = withRetries(inner, {
    credentials: credentials("token", undefined),
    timeoutMs: 30_000,
    retries: 4,
    random: () => 1,
    pause: async (ms) => {
      waits.push(ms);
    },
    ...policy,
  });
  return {
    heard,
    waits,
    keys: () => heard.map(({ headers }) => headers.get("Idempotency-Key")),
    tokens: () => heard.map(({ headers }) => headers.get("Authorization")),
    bookings: createClient(BookingService, transport),
    access: createClient(AccessService, transport),
  };
}

describe("a mutation", () => {
  it.each([
    ["contention", contention],
    ["a lost connection", lost],
    ["a failure of fetch", fetchFailed],
    ["the server's deadline", refusal(Code.DeadlineExceeded, "DEADLINE_EXCEEDED")],
  ])("is retried after %s with the same key", async (_, error) => {
    const { bookings, keys, waits } = setup([error, error]);
    await bookings.book({});
    expect(keys()).toHaveLength(3);
    expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(keys()).size).toBe(1);
    expect(waits).toEqual([100, 200]);
  });

  it("has a new key for each call", async () => {
    const { bookings, keys } = setup([]);
    await bookings.book({});
    await bookings.book({});
    expect(new Set(keys()).size).toBe(2);
  });

  it("keeps a key from the caller", async () => {
    const { bookings, keys } = setup([lost]);
    await bookings.book({}, { headers: { "Idempotency-Key": "order-7" } });
    expect(keys()).toEqual(["order-7", "order-7"]);
  });
});

describe("a read", () => {
  it("is retried without a key", async () => {
    const { bookings, keys } = setup([lost]);
    await bookings.getBooking({});
    expect(keys()).toEqual([null, null]);
  });

  it.each([
    ["a refusal", refusal(Code.FailedPrecondition, "SESSION_FULL")],
    ["a fault of the service", refusal(Code.Internal, "INTERNAL")],
    ["another user's edit", refusal(Code.Aborted, "ETAG_MISMATCH")],
    ["a proxy's no", new ConnectError("forbidden", Code.PermissionDenied)],
  ])("is not retried after %s", async (_, error) => {
    const { bookings, heard } = setup([error]);
    await expect(bookings.getBooking({})).rejects.toMatchObject({ code: error.code });
    expect(heard).toHaveLength(1);
  });

  it("gives up after the configured retries", async () => {
    const { bookings, heard, waits } = setup(Array(9).fill(contention));
    await expect(bookings.getBooking({})).rejects.toThrow("CONTENTION");
    expect(heard).toHaveLength(5);
    expect(waits).toEqual([100, 200, 400, 800]);
  });
});

describe("a timeout or delay", () => {
  it("waits as long as the server asks", async () => {
    const limited = refusal(Code.ResourceExhausted, "RATE_LIMITED", { retry_after: "3" });
    const { bookings, waits } = setup([limited], { random: () => 0 });
    await bookings.book({});
    expect(waits).toEqual([3000]);
  });

  it("does not wait for minutes", async () => {
    const limited = refusal(Code.ResourceExhausted, "RATE_LIMITED", { retry_after: "60" });
    const { bookings, heard } = setup([limited]);
    await expect(bookings.book({})).rejects.toThrow("RATE_LIMITED");
    expect(heard).toHaveLength(1);
  });

  it("is sent to the server as the remaining time", async () => {
    vi.useFakeTimers();
    try {
      const { bookings, heard } = setup([lost], {
        pause: async (ms) => void vi.advanceTimersByTime(ms),
      });
      await bookings.book({}, { timeoutMs: 1000 });
      expect(heard.map(({ timeoutMs }) => timeoutMs)).toEqual([1000, 900]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not start a delay that would exceed it", async () => {
    vi.useFakeTimers(); // independent of the duration of the call
    try {
      const { bookings, heard } = setup([lost]);
      await expect(bookings.book({}, { timeoutMs: 50 })).rejects.toThrow("connection reset");
      expect(heard).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("ends with the caller's signal during a backoff", async () => {
    const gone = new AbortController();
    const { bookings, heard } = setup([lost], {
      pause: (ms, signal) => {
        const waited = pause(ms, signal);
        gone.abort();
        return waited;
      },
    });
    await expect(bookings.book({}, { signal: gone.signal })).rejects.toMatchObject({
      code: Code.Canceled,
    });
    expect(heard).toHaveLength(1);
  });

  it("has full jitter and doubles up to a limit", () => {
    expect([0, 1, 2, 6, 7, 30].map((attempt) => backoff(attempt, () => 1))).toEqual([
      100, 200, 400, 6400, 10_000, 10_000,
    ]);
    expect(backoff(5, () => 0)).toBe(0);
  });
});

describe("a token", () => {
  const unknown = refusal(Code.Unauthenticated, "UNAUTHENTICATED");

  it("that is rejected is renewed once", async () => {
    let n = 0;
    const held = credentials("t0", async () => `t${++n}`);
    const { bookings, tokens, keys } = setup([unknown], { credentials: held });
    await bookings.book({});
    expect(tokens()).toEqual(["Bearer t0", "Bearer t1"]);
    expect(new Set(keys()).size).toBe(1);

    const again = setup([unknown, unknown], { credentials: held });
    await expect(again.bookings.book({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(again.heard).toHaveLength(2);
  });

  it("that is rejected twice or cannot be renewed has expired", async () => {
    const expired = vi.fn();
    let n = 0;
    const renewable = { ...credentials("t0", async () => `t${++n}`), expired };
    await setup([unknown], { credentials: renewable }).bookings.book({});
    expect(expired).not.toHaveBeenCalled();
    const { bookings } = setup([unknown, unknown], { credentials: renewable });
    await expect(bookings.book({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(expired).toHaveBeenCalledTimes(1);

    const alone = setup([unknown], { credentials: { ...credentials("t0", undefined), expired } });
    await expect(alone.bookings.book({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(expired).toHaveBeenCalledTimes(2);

    const signedOut = new ConnectError("signed out", Code.Unauthenticated);
    const current = () => Promise.reject(signedOut);
    const out = setup([], { credentials: { current, refused: async () => false, expired } });
    await expect(out.bookings.book({})).rejects.toBe(signedOut);
    expect([out.heard.length, expired.mock.calls.length]).toEqual([0, 3]);
  });

  it("that cannot be renewed keeps the original error", async () => {
    const { bookings, heard } = setup([unknown]);
    await expect(bookings.book({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(heard).toHaveLength(1);
  });

  it("of the call itself is not replaced", async () => {
    const { bookings, tokens } = setup([]);
    await bookings.book({}, { headers: { Authorization: "Bearer other" } });
    expect(tokens()).toEqual(["Bearer other"]);
  });

  it("is not fetched for public calls", async () => {
    const refresh = vi.fn();
    const { access, tokens, keys } = setup([lost], { credentials: credentials("", refresh) });
    await access.exchangeKey({ key: "berth_x" });
    expect(refresh).not.toHaveBeenCalled();
    expect([tokens(), keys()]).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});

describe("the server's reachability", () => {
  const proxyDown = new ConnectError("bad gateway", Code.Unavailable);
  const full = refusal(Code.FailedPrecondition, "SESSION_FULL");
  const stopped = new AbortController();
  stopped.abort();

  it.each<[string, (ConnectError | undefined)[], string[]]>([
    ["an answer", [undefined], ["reachable"]],
    ["a refusal", [full], ["reachable"]],
    ["contention that ends", [contention, undefined], ["reachable", "reachable"]],
    ["a lost connection that comes back", [fetchFailed, undefined], ["reachable"]],
    ["a lost connection", [lost, lost, lost], ["unreachable"]],
    ["a proxy's answer", [proxyDown, proxyDown, proxyDown], ["unreachable"]],
  ])("is reported after %s", async (_, given, want) => {
    const seen: string[] = [];
    const { bookings } = setup(given, {
      retries: 2,
      onReachable: () => seen.push("reachable"),
      onUnreachable: () => seen.push("unreachable"),
    });
    await bookings.book({}).catch(() => undefined);
    expect(seen).toEqual(want);
  });

  it("is not reported for a call that the caller aborts", async () => {
    const report = vi.fn();
    const { bookings } = setup([], { onReachable: report, onUnreachable: report });
    await expect(bookings.book({}, { signal: stopped.signal })).rejects.toMatchObject({
      code: Code.Canceled,
    });
    expect(report).not.toHaveBeenCalled();
  });
});

describe("the tenant", () => {
  it("is set in requests without one", async () => {
    const { bookings, heard } = setup([], { tenantId: "mine" });
    await bookings.getBooking({ bookingId: "b" });
    await bookings.getBooking({ tenantId: "other" });
    const message = create(GetBookingRequestSchema, { bookingId: "c" });
    await bookings.getBooking(message);
    expect(heard.map(({ request }) => request as GetBookingRequest)).toMatchObject([
      { tenantId: "mine", bookingId: "b" },
      { tenantId: "other" },
      { tenantId: "mine", bookingId: "c" },
    ]);
    expect(message.tenantId).toBe("");
  });

  it("is looked up for each call", async () => {
    let chosen: string | undefined;
    const { bookings, heard } = setup([], { tenantId: () => chosen });
    await bookings.getBooking({});
    chosen = "mine";
    await bookings.getBooking({});
    expect(heard.map(({ request }) => request as GetBookingRequest)).toMatchObject([
      { tenantId: "" },
      { tenantId: "mine" },
    ]);
  });
});
