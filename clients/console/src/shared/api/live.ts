import {
  type BerthConnection,
  type BerthError,
  ErrorReason,
  type Event,
  EventType,
  type Session,
  SessionService,
} from "@berthhq/client";
import type { Query, QueryClient } from "@tanstack/react-query";

/*
 * Shows changes by other users within moments. All tabs of a browser share one stream, because
 * browsers limit connections per server: the tab that holds the lock listens and tells the others.
 */

/** Services whose answers only change with edits of the catalog, members or roles. */
const catalogServices = ["Tenant", "Catalog", "Member", "Access"].map(
  (name) => `berth.v1.${name}Service`,
);

/** Debounce in ms. Cancelling a session causes many events; refetch once for all of them. */
const debounce = 120;

/** The shortest time between refetches, in ms. */
const minInterval = 400;

/** The delay before a watch that failed for good starts again, in ms. */
const restart = 5000;

/** Both kinds of query keys have the service in second position. */
function serviceOf([, second]: readonly unknown[]): string {
  return typeof second === "string"
    ? second
    : ((second as { serviceName?: string } | undefined)?.serviceName ?? "");
}

/**
 * "missed" is all but the user and their permissions: nothing is known to have changed, but events
 * may have been missed. Permissions are polled anyway, so a page that loads asks for them once.
 */
export type Scope = "all" | "missed" | "schedule";

const scopes: readonly Scope[] = ["schedule", "missed", "all"];

/** The scope that contains both. */
export const wider = (one: Scope | undefined, other: Scope): Scope =>
  scopes[Math.max(one ? scopes.indexOf(one) : 0, scopes.indexOf(other))] ?? other;

/** Whether the answer to a query is stale. */
export const isStale = (scope: Scope, { queryKey, meta }: Pick<Query, "queryKey" | "meta">) => {
  if (scope === "missed") return meta?.me !== true;
  return scope === "all" || !catalogServices.includes(serviceOf(queryKey));
};

/** Which queries are stale after these events. Open seats are in their events. */
export function scopeOf(events: readonly Pick<Event, "type">[]): Scope | undefined {
  const others = events.filter(({ type }) => type !== EventType.SESSION_SEATS_CHANGED);
  if (others.length === 0) return undefined;
  const all = others.some(({ type }) => type === 0 || type >= EventType.MEMBER_CHANGED);
  return all ? "all" : "schedule";
}

/** The open seats of sessions, by id. */
type Seats = ReadonlyMap<string, number>;

/** What the tab that listens tells the others. */
interface News {
  readonly scope: Scope | undefined;
  readonly seats: Seats;
}

export const seatsOf = (events: readonly Pick<Event, "sessionId" | "details">[]): Seats =>
  new Map(
    events.flatMap(({ sessionId, details }) =>
      details.case === "seats" ? [[sessionId, details.value.seatsOpen] as const] : [],
    ),
  );

/**
 * Changes the open seats of sessions in an answer. Calls onTurn if a session became full or is no
 * longer full: then it is booked in another way, and the server has to say how.
 */
export function withSeats(answer: unknown, seats: Seats, onTurn: () => void): unknown {
  if (Array.isArray(answer)) {
    const changed = answer.map((each) => withSeats(each, seats, onTurn));
    return changed.some((each, at) => each !== answer[at]) ? changed : answer;
  }
  if (typeof answer !== "object" || answer === null) return answer;
  const fields = answer as Record<string, unknown>;
  if ("seatsTaken" in fields) {
    const { id, seatsOpen, seatsTaken } = answer as Session;
    const open = seats.get(id);
    if (open === undefined || seatsOpen === undefined || open === seatsOpen) return answer;
    if (open === 0 || seatsOpen === 0) onTurn();
    return { ...answer, seatsOpen: open, seatsTaken: seatsTaken + seatsOpen - open };
  }
  const key = ["session", "sessions"].find((name) => name in fields);
  if (key === undefined) return answer;
  const changed = withSeats(fields[key], seats, onTurn);
  return changed === fields[key] ? answer : { ...answer, [key]: changed };
}

interface Watched {
  readonly api: BerthConnection;
  readonly queries: QueryClient;
  /** The user and tenant. Tabs with the same value share a stream. */
  readonly user: string;
  readonly onLost: () => void;
}

/** Refetches queries when events arrive, until the returned function is called. */
export function watch({ api, queries, user, onLost }: Watched): () => void {
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
    const scope = pending ?? "schedule";
    pending = undefined;
    void queries.invalidateQueries({ predicate: (query) => isStale(scope, query) });
  };
  const refetchSoon = (scope: Scope) => {
    pending = wider(pending, scope);
    timer ??= setTimeout(refetch, Math.max(debounce, last + minInterval - Date.now()));
  };
  const apply = ({ scope, seats }: News) => {
    if (scope) refetchSoon(scope);
    if (seats.size === 0) return;
    for (const query of queries.getQueryCache().findAll()) {
      if (serviceOf(query.queryKey) !== SessionService.typeName || query.state.data === undefined) {
        continue;
      }
      const { data } = query.state;
      const changed = withSeats(data, seats, () => refetchSoon("schedule"));
      // As old as before: setting it must not put off the next refetch.
      const { dataUpdatedAt: updatedAt } = query.state;
      if (changed !== data) queries.setQueryData(query.queryKey, changed, { updatedAt });
    }
  };
  channel.onmessage = ({ data }) => apply(data as News);

  const listen = async () => {
    while (!signal.aborted) {
      let batch: Event[] | undefined; // undefined until the watch starts: events may have been missed
      const onCursor = () => {
        broadcast(
          batch
            ? { scope: scopeOf(batch), seats: seatsOf(batch) }
            : { scope: "missed", seats: new Map() },
        );
        batch = [];
      };
      const onDisconnect = ({ reason }: BerthError) => {
        if (reason === ErrorReason.UNSPECIFIED) onLost();
      };
      try {
        const events = api.watch({}, { signal, onCursor, onDisconnect });
        for await (const event of events) batch?.push(event);
      } catch {
        // Signed out, not permitted or at an unknown cursor: this may have changed by then.
        await new Promise((done) => {
          setTimeout(done, restart);
          signal.addEventListener("abort", done);
        });
      }
    }
  };
  const broadcast = (news: News) => {
    if (!news.scope && news.seats.size === 0) return;
    channel.postMessage(news);
    apply(news);
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
