import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { credentials } from "./credentials.js";
import { ErrorInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { EventService, type WatchEventsRequest, WatchEventsResponseSchema } from "./index.js";
import { pause } from "./transport.js";
import { type WatchOptions, watch } from "./watch.js";

function ended(code: Code, reason: string, metadata: Record<string, string> = {}): ConnectError {
  return new ConnectError(reason, code, undefined, [
    { desc: ErrorInfoSchema, value: { domain: "berth", reason, metadata } },
  ]);
}

/** In ms. Only failing tests wait this long. */
const timeout = 30_000;

const greeting = { events: [], cursor: "0" };
const shuttingDown = ended(Code.Unavailable, "SHUTTING_DOWN");

/** A message with these events and the cursor of the last. */
function message(...ids: readonly string[]) {
  return { events: ids.map((id) => ({ id, cursor: id })), cursor: ids.at(-1) ?? "" };
}

type Step = ReturnType<typeof message> | ConnectError;

/** A server with these streams, one after the other. The last one stays open. */
function setup(streams: readonly (readonly Step[])[], token: Parameters<typeof credentials>) {
  const heard: { request: WatchEventsRequest; token: string | null }[] = [];
  const waits: number[] = [];
  let hungUp = 0;
  let expired = 0;
  const transport = createRouterTransport(({ service }) => {
    service(EventService, {
      async *watchEvents(request, { requestHeader, signal }) {
        const steps = streams[heard.length] ?? [];
        heard.push({ request, token: requestHeader.get("Authorization") });
        signal.addEventListener("abort", () => hungUp++);
        for (const step of steps) {
          if (step instanceof ConnectError) throw step;
          yield create(WatchEventsResponseSchema, step);
        }
        if (heard.length === streams.length) {
          await new Promise((_, lost) => signal.addEventListener("abort", lost));
        }
      },
    });
  });
  return {
    heard,
    waits,
    hungUp: () => hungUp,
    expired: () => expired,
    cursors: () => heard.map(({ request }) => request.cursor),
    tokens: () => heard.map(({ token }) => token),
    watch: (cursor = "", options?: WatchOptions) => {
      const held = { ...credentials(...token), expired: () => expired++ };
      return watch(createClient(EventService, transport), held, { cursor }, options, {
        random: () => 1,
        pause: async (ms) => void waits.push(ms),
      });
    },
  };
}

/** Reads n events and leaves the loop. */
async function take(events: AsyncIterable<{ id: string }>, n: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of events) {
    ids.push(id);
    if (ids.length === n) break;
  }
  return ids;
}

describe("a watch", () => {
  it.each([
    ["the server shuts down", shuttingDown],
    ["it was too slow", ended(Code.ResourceExhausted, "WATCHER_TOO_SLOW")],
    ["the service has a fault", ended(Code.Internal, "INTERNAL")],
    ["a proxy hangs up", new ConnectError("reset", Code.Canceled)],
    ["the connection is lost", new ConnectError("network", Code.Unknown)],
  ])("resumes after %s", async (_, end) => {
    const { cursors, watch } = setup(
      [
        [greeting, message("a", "b"), end],
        [greeting, message("c"), end],
        [message(), message("d")],
      ],
      ["token", undefined],
    );
    // The third stream starts at a later cursor: the filter matched nothing.
    expect(await take(watch(), 4)).toEqual(["a", "b", "c", "d"]);
    expect(cursors()).toEqual(["", "b", "c"]);
  });

  it("resumes after a stream that ends without an error", async () => {
    const { cursors, watch } = setup([[message("a")], [message("b")]], ["token", undefined]);
    expect(await take(watch("z"), 2)).toEqual(["a", "b"]);
    expect(cursors()).toEqual(["z", "a"]);
  });

  it("reports a cursor after its events were handled, and each lost connection", async () => {
    const { watch } = setup(
      [[greeting, message("a", "b"), { events: [], cursor: "c" }, shuttingDown], [message("d")]],
      ["token", undefined],
    );
    const told: string[] = [];
    const events = watch("", {
      onCursor: (cursor) => told.push(`cursor ${cursor}`),
      onDisconnect: ({ message }) => told.push(message),
    });
    for await (const { id } of events) {
      told.push(id);
      if (id === "d") break;
    }
    const all = ["cursor 0", "a", "b", "cursor b", "cursor c", "SHUTTING_DOWN", "d"];
    expect(told).toEqual(all);
  });

  it("backs off while streams end after their first message", async () => {
    const limited = ended(Code.ResourceExhausted, "RATE_LIMITED", { retry_after: "2" });
    const { waits, watch } = setup(
      [
        [shuttingDown],
        [greeting, shuttingDown],
        [greeting],
        [limited],
        [greeting, message("a"), shuttingDown],
        [message("b")],
      ],
      ["token", undefined],
    );
    expect(await take(watch(), 2)).toEqual(["a", "b"]);
    expect(waits).toEqual([100, 200, 400, 2800, 100]);
  });

  it("renews the token only when it has expired", async () => {
    const expired = ended(Code.Unauthenticated, "UNAUTHENTICATED");
    let n = 0;
    const {
      tokens,
      cursors,
      expired: expirations,
      watch,
    } = setup(
      [[greeting, message("a"), expired], [greeting, message("b"), expired], [message("c")]],
      ["t0", async () => `t${++n}`],
    );
    expect(await take(watch(), 3)).toEqual(["a", "b", "c"]);
    expect(tokens()).toEqual(["Bearer t0", "Bearer t1", "Bearer t2"]);
    expect(cursors()).toEqual(["", "a", "b"]);
    expect(expirations()).toBe(0);

    const hopeless = setup([[expired], [expired], []], ["t0", async () => `t${++n}`]);
    await expect(take(hopeless.watch(), 1)).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(hopeless.heard).toHaveLength(2);
    expect(hopeless.expired()).toBe(1);
    const alone = setup([[expired], []], ["t0", undefined]);
    await expect(take(alone.watch(), 1)).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(alone.heard).toHaveLength(1);
  });

  it.each([
    ["PERMISSION_DENIED", Code.PermissionDenied],
    ["INVALID_FIELD", Code.InvalidArgument],
  ])("throws %s, which retrying cannot fix", async (reason, code) => {
    const { heard, watch } = setup([[ended(code, reason)], []], ["token", undefined]);
    await expect(take(watch(), 1)).rejects.toMatchObject({ code });
    expect(heard).toHaveLength(1);
  });

  it("disconnects when the loop is left", async () => {
    const { hungUp, watch } = setup([[message("a")]], ["token", undefined]);
    await take(watch(), 1);
    await vi.waitFor(() => expect(hungUp()).toBe(1), timeout);
  });

  it("ends with the signal while waiting for a message", async () => {
    const gone = new AbortController();
    const { hungUp, watch } = setup([[message("a")]], ["token", undefined]);
    const ids: string[] = [];
    const options = { signal: gone.signal, onCursor: () => setTimeout(() => gone.abort()) };
    for await (const { id } of watch("", options)) ids.push(id);
    expect(ids).toEqual(["a"]);
    await vi.waitFor(() => expect(hungUp()).toBe(1), timeout);
  });

  it("ends with the signal during a backoff", async () => {
    await expect(pause(60_000, AbortSignal.abort())).rejects.toMatchObject({ code: Code.Canceled });
  });

  it("reconnects after two missed heartbeats", async () => {
    vi.useFakeTimers();
    try {
      const streams = [[message("a")], [message("b")]];
      const cursors: (string | undefined)[] = [];
      const events = watch(
        {
          async *watchEvents(request, options) {
            cursors.push(request.cursor);
            for (const step of streams[cursors.length - 1] ?? []) {
              yield create(WatchEventsResponseSchema, step);
            }
            // For the transport the connection stays open.
            await new Promise((_, lost) => {
              options?.signal?.addEventListener("abort", lost);
            });
          },
        },
        credentials("token", undefined),
        { heartbeatInterval: { seconds: 10n } },
      );
      expect((await events.next()).value?.id).toBe("a");
      const next = events.next();
      await vi.advanceTimersByTimeAsync(24_999);
      expect(cursors).toEqual([""]);
      await vi.advanceTimersByTimeAsync(101);
      expect((await next).value?.id).toBe("b");
      expect(cursors).toEqual(["", "a"]);
      await events.return();
    } finally {
      vi.useRealTimers();
    }
  });
});
