import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient,
  createRouterTransport,
  type HandlerContext,
} from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import retries from "../../retries.json" with { type: "json" };
import { createBerthConnection } from "./client.js";
import { credentials, type Token } from "./credentials.js";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import {
  AccessService,
  BookingService,
  EventService,
  WaitlistService,
  WatchEventsResponseSchema,
} from "./index.js";
import { withRetries } from "./transport.js";
import { watch } from "./watch.js";

// The cases that the clients in all languages run. Times are in seconds.

/** A call, or a watch, that fails attempt + 1 times in the same way. */
interface CallCase {
  readonly when: string;
  readonly code: string;
  /** Empty if the error is not from Berth. */
  readonly reason: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly attempt: number;
  /** The shortest and the longest wait before the call is sent again; null if it is not sent again. */
  readonly wait: readonly number[] | null;
  readonly call?: string;
  /** Whether the call has an idempotency key. */
  readonly key?: boolean;
  /** The time since the call began when the last error arrives. */
  readonly elapsed?: number;
  /** How many retries are allowed, if not the default. */
  readonly retries?: number;
}

/** A token asked for twice: at the start, and at an age of the first token. */
interface RenewalCase {
  readonly when: string;
  /** given, jwt or unknown */
  readonly expiry: string;
  readonly lifetime: number;
  readonly age: number;
  /** up, or down from the second fetch on */
  readonly issuer: string;
  /** first or second; null for an error. */
  readonly token: string | null;
}

/** A call while the issuer gives these tokens, one for each fetch; null for a failure. */
interface RejectionCase {
  readonly when: string;
  readonly tokens: readonly (string | null)[];
  /** unauthenticated or ok */
  readonly answers: readonly string[];
  readonly sent: readonly string[];
  readonly succeeds: boolean;
}

const calls: readonly CallCase[] = retries.calls as readonly CallCase[];
const watches: readonly CallCase[] = retries.watches as readonly CallCase[];
const renewals: readonly RenewalCase[] = retries.renewals;
const rejections: readonly RejectionCase[] = retries.rejections;

/** Each case with the shortest and the longest wait. */
function twice(cases: readonly CallCase[]): [string, 0 | 1, CallCase][] {
  return cases.flatMap((one) => [
    [`${one.when}, ${one.call ?? "watch"}, ${one.code}, shortest wait`, 0, one],
    [`${one.when}, ${one.call ?? "watch"}, ${one.code}, longest wait`, 1, one],
  ]);
}

function codeOf(name: string): Code {
  const pascal = name.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase());
  return Code[pascal as keyof typeof Code];
}

function errorOf({ code, reason, metadata = {}, when }: CallCase): ConnectError {
  const details = reason
    ? [{ desc: ErrorInfoSchema, value: { domain: "berth", reason, metadata } }]
    : [];
  return new ConnectError(when, codeOf(code), undefined, details);
}

/** A server whose answer to the nth call, from 1, is a success or this error. */
function serve(answer: (n: number) => ConnectError | undefined) {
  const heard: Headers[] = [];
  function meet(_: unknown, { requestHeader }: HandlerContext) {
    heard.push(requestHeader);
    const error = answer(heard.length);
    if (error) throw error;
    return {};
  }
  const transport = createRouterTransport(({ service }) => {
    service(AccessService, { exchangeKey: meet });
    service(BookingService, { book: meet, getBooking: meet });
    service(WaitlistService, { answerWaitlistClaim: meet });
  });
  return { heard, transport };
}

/** Sends a call of a case through a transport. */
async function send(transport: ReturnType<typeof withRetries>, call: string | undefined) {
  switch (call) {
    case "read":
      return createClient(BookingService, transport).getBooking({});
    case "mutation":
      return createClient(BookingService, transport).book({});
    case "public":
      return createClient(WaitlistService, transport).answerWaitlistClaim({});
    case "exchange":
      return createClient(AccessService, transport).exchangeKey({});
    default:
      throw new Error(`no such call: ${call}`);
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a call", () => {
  it.each(twice(calls))("is sent again as all clients do: %s", async (_, random, given) => {
    const start = Date.now();
    const waits: number[] = [];
    const { heard, transport } = serve((n) => {
      if (n > given.attempt + 1) return undefined;
      const end = start + (given.elapsed ?? 0) * 1000;
      if (n === given.attempt + 1 && end > Date.now()) vi.setSystemTime(end);
      return errorOf(given);
    });
    const retrying = withRetries(transport, {
      credentials: credentials("token", undefined),
      timeoutMs: retries.timeout * 1000,
      retries: given.retries ?? retries.retries,
      random: () => random,
      pause: async (ms) => {
        waits.push(ms);
        vi.setSystemTime(Date.now() + ms);
      },
    });
    const result = await send(retrying, given.call).then(
      () => undefined,
      (error: ConnectError) => error.code,
    );
    expect(heard[0]?.has("Idempotency-Key")).toBe(given.key);
    if (given.wait) {
      expect([result, heard.length]).toEqual([undefined, given.attempt + 2]);
      expect(waits[given.attempt]).toBeCloseTo((given.wait[random] ?? 0) * 1000);
    } else {
      expect([result, heard.length]).toEqual([codeOf(given.code), given.attempt + 1]);
    }
  });

  it("has the timeout and the retries of all clients by default", async () => {
    let timeoutMs: number | undefined;
    const lost = new ConnectError("lost", Code.Unavailable);
    const { heard, transport } = serve(() => lost);
    const connection = createBerthConnection({
      baseUrl: "http://localhost",
      transport: () => ({
        ...transport,
        unary: (method, signal, timeout, ...rest) => {
          timeoutMs ??= timeout;
          return transport.unary(method, signal, timeout, ...rest);
        },
      }),
    });
    const call = expect(send(connection.transport, "read")).rejects.toThrow("lost");
    await vi.runAllTimersAsync();
    await call;
    expect([timeoutMs, heard.length]).toEqual([retries.timeout * 1000, retries.retries + 1]);
  });
});

describe("a watch", () => {
  it.each(twice(watches))("reconnects as all clients do: %s", async (_, random, given) => {
    let connections = 0;
    const waits: number[] = [];
    const transport = createRouterTransport(({ service }) => {
      service(EventService, {
        async *watchEvents() {
          if (connections++ <= given.attempt) throw errorOf(given);
          yield create(WatchEventsResponseSchema, { events: [{ id: "e" }] });
        },
      });
    });
    const events = createClient(EventService, transport);
    const clock = { random: () => random, pause: async (ms: number) => void waits.push(ms) };
    const result = await watch(events, credentials("token", undefined), {}, {}, clock)
      .next()
      .then(
        () => undefined,
        (error: ConnectError) => error.code,
      );
    if (given.wait) {
      expect([result, connections]).toEqual([undefined, given.attempt + 2]);
      expect(waits[given.attempt]).toBeCloseTo((given.wait[random] ?? 0) * 1000);
    } else {
      expect([result, connections]).toEqual([codeOf(given.code), given.attempt + 1]);
    }
  });
});

describe("a token", () => {
  it.each(renewals)("is renewed as all clients do: $when", async (given) => {
    let now = Date.now();
    const tokens: string[] = [];
    async function refresh(): Promise<Token> {
      const name = tokens.length === 0 ? "first" : "second";
      if (name === "second" && given.issuer === "down") throw new Error("the issuer is down");
      const exp = now / 1000 + given.lifetime;
      const token = given.expiry === "jwt" ? `e30.${btoa(JSON.stringify({ exp, name }))}.x` : name;
      tokens.push(token);
      return given.expiry === "given" ? { token, expiresAt: new Date(exp * 1000) } : { token };
    }
    const held = credentials(undefined, refresh, () => now);
    await held.current();
    now += given.age * 1000;
    if (given.token === null) await expect(held.current()).rejects.toThrow("down");
    else expect(await held.current()).toBe(tokens[given.token === "first" ? 0 : 1]);
  });

  it.each(rejections)("that is rejected is replaced as all clients do: $when", async (given) => {
    const rejected = new ConnectError("rejected", Code.Unauthenticated);
    const { heard, transport } = serve((n) =>
      given.answers[n - 1] === "ok" ? undefined : rejected,
    );
    let fetches = 0;
    async function refresh(): Promise<string> {
      const token = given.tokens[fetches++];
      if (!token) throw new Error("the issuer fails");
      return token;
    }
    const retrying = withRetries(transport, {
      credentials: credentials(undefined, refresh),
      timeoutMs: 30_000,
      retries: 4,
      pause: async () => undefined,
    });
    const result = await send(retrying, "mutation").then(
      () => "ok",
      (error: ConnectError) => Code[error.code],
    );
    expect(result).toBe(given.succeeds ? "ok" : "Unauthenticated");
    expect(heard.map((headers) => headers.get("Authorization"))).toEqual(
      given.sent.map((token) => `Bearer ${token}`),
    );
  });
});
