import {
  ErrorReason,
  type Event,
  EventService,
  EventType,
  type WatchEventsResponse,
} from "@berthhq/client";
import { createClient, type Transport } from "@connectrpc/connect";
import type { QueryClient } from "@tanstack/react-query";
import { reasonOf } from "./errors";

/*
 * Shows changes by other users within moments. All tabs of a browser share one stream, because
 * browsers limit connections per server: the tab that holds the lock listens and tells the others.
 */

/** Services whose answers only change with edits of the catalog, members or roles. */
const catalogServices = ["Tenant", "Member", "Access"].map((name) => `berth.v1.${name}Service`);

/** Debounce in ms. Cancelling a session causes many events; refetch once for all of them. */
const debounce = 120;

/** The shortest time between refetches, in ms. */
const minInterval = 400;

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });

/** Both kinds of query keys have the service in second position. */
function serviceOf([, second]: readonly unknown[]): string {
  return typeof second === "string"
    ? second
    : ((second as { serviceName?: string } | undefined)?.serviceName ?? "");
}

type Scope = "all" | "schedule";

/** Which queries are stale after these events. */
export function scopeOf(events: readonly Pick<Event, "type">[]): Scope | undefined {
  if (events.length === 0) return undefined;
  const all = events.some(({ type }) => type === 0 || type >= EventType.MEMBER_CHANGED);
  return all ? "all" : "schedule";
}

/** The delay before a retry, in ms: exponential, with jitter. */
export function backoff(attempt: number, random = Math.random): number {
  return Math.min(10_000, 250 * 2 ** attempt) * (0.5 + random() / 2);
}

interface Watched {
  readonly transport: Transport;
  readonly queries: QueryClient;
  /** The user and tenant. Tabs with the same value share a stream. */
  readonly user: string;
  readonly onLost: () => void;
}

/** Refetches queries when events arrive, until the returned function is called. */
export function watch({ transport, queries, user, onLost }: Watched): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const name = `berth.live.${user}`;
  const channel = new BroadcastChannel(name);
  let pending: Scope | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;

  const refetch = () => {
    timer = undefined;
    last = Date.now();
    const all = pending === "all";
    pending = undefined;
    void queries.invalidateQueries({
      predicate: ({ queryKey }) => all || !catalogServices.includes(serviceOf(queryKey)),
    });
  };
  const refetchSoon = (scope: Scope) => {
    pending = pending === "all" ? pending : scope;
    timer ??= setTimeout(refetch, Math.max(debounce, last + minInterval - Date.now()));
  };
  channel.onmessage = ({ data }) => refetchSoon(data as Scope);

  const listen = async () => {
    const client = createClient(EventService, transport);
    let cursor = "";
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        let first = true;
        const stream: AsyncIterable<WatchEventsResponse> = client.watchEvents(
          { cursor },
          { signal },
        );
        for await (const message of stream) {
          // Without a cursor, events may have been missed.
          if (first && !cursor) broadcast("all");
          first = false;
          attempt = 0;
          cursor = message.cursor;
          const scope = scopeOf(message.events);
          if (scope) broadcast(scope);
        }
      } catch (error) {
        if (signal.aborted) return;
        const reason = reasonOf(error);
        if (reason === ErrorReason.INVALID_FIELD) cursor = "";
        if (reason === ErrorReason.UNSPECIFIED) onLost();
      }
      await pause(backoff(attempt), signal);
    }
  };
  const broadcast = (scope: Scope) => {
    channel.postMessage(scope);
    refetchSoon(scope);
  };

  // Pages on insecure origins have no locks: there each tab listens on its own.
  if (navigator.locks) {
    navigator.locks.request(name, { signal }, listen).catch(() => undefined);
  } else void listen();
  return () => {
    ending.abort();
    clearTimeout(timer);
    channel.close();
  };
}
