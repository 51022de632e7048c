import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type { Credentials } from "./credentials.js";
import { type BerthError, berthError } from "./error.js";
import { ErrorReason } from "./gen/berth/v1/error_pb.js";
import type { Event } from "./gen/berth/v1/event_pb.js";
import type { EventService, WatchEventsRequestSchema } from "./gen/berth/v1/event_service_pb.js";
import { backoff, isTransient, isUnauthenticated, pause } from "./transport.js";

/** How to be told what a watch is doing. */
export interface WatchOptions {
  /** Ends the watch: its loop is left as if there were nothing more. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called as soon as the watch runs, and then whenever the loop is done with what has come: to go on from this cursor
   * later is to miss nothing and to see nothing twice. It moves on even where a filter lets nothing through.
   */
  readonly onCursor?: ((cursor: string) => void) | undefined;
  /** Called when the connection is lost. It is taken up again by itself, and `onCursor` says when. */
  readonly onDisconnect?: ((error: BerthError) => void) | undefined;
}

/**
 * Gives events as they happen, for as long as its loop runs. Where the connection ends, for whatever reason, it
 * goes on from the last cursor. It throws what another attempt would not mend, such as PERMISSION_DENIED.
 */
export async function* watch(
  events: Pick<Client<typeof EventService>, "watchEvents">,
  credentials: Credentials,
  request: MessageInitShape<typeof WatchEventsRequestSchema>,
  options: WatchOptions = {},
  clock: { pause: typeof pause; random: () => number } = { pause, random: Math.random },
): AsyncGenerator<Event, void, undefined> {
  const { signal, onCursor, onDisconnect } = options;
  let cursor = request.cursor ?? "";
  let failures = 0;
  let refused = false;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const hangUp = () => connection.abort();
    signal?.addEventListener("abort", hangUp, { once: true });
    let token: string | undefined;
    let lost: ConnectError;
    try {
      token = await credentials.current();
      const stream = events
        .watchEvents(
          { ...request, cursor },
          {
            signal: connection.signal,
            timeoutMs: 0,
            ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
          },
        )
        [Symbol.asyncIterator]();
      for (let first = true; ; first = false) {
        const { value, done } = await within(silence(request), stream.next(), hangUp);
        if (done) break;
        for (const event of value.events) {
          yield event;
          if (signal?.aborted) return;
        }
        cursor = value.cursor;
        onCursor?.(cursor);
        refused = false;
        // Whoever greets and then hangs up each time is not to be called ever faster.
        if (!first) failures = 0;
      }
      lost = new ConnectError("the stream ended", Code.Unavailable);
    } catch (thrown) {
      lost = ConnectError.from(thrown);
    } finally {
      hangUp(); // also where the loop is left: a stream does not notice by itself
      signal?.removeEventListener("abort", hangUp);
    }
    if (signal?.aborted) return;

    if (isUnauthenticated(lost)) {
      if (refused || !(await credentials.refused(token))) throw lost;
      refused = true; // what is new and refused again will not be good
      continue;
    }
    const error = berthError(lost);
    if (!isPassing(error)) throw lost;
    onDisconnect?.(error);
    const { retry_after = "0" } = error.metadata;
    const wait = Number(retry_after) * 1000 + backoff(failures++, clock.random);
    await clock.pause(wait, signal).catch(() => undefined); // the signal ends the loop above
  }
}

/** Whether a stream that ended so may be taken up again. */
function isPassing({ reason, code }: BerthError): boolean {
  switch (reason) {
    case ErrorReason.WATCHER_TOO_SLOW:
    case ErrorReason.SHUTTING_DOWN:
    case ErrorReason.CONTENTION:
    case ErrorReason.DEADLINE_EXCEEDED:
    case ErrorReason.RATE_LIMITED:
    case ErrorReason.INTERNAL:
      return true;
    case ErrorReason.UNSPECIFIED:
    case ErrorReason.CANCELED:
      // It was not we who cancelled: a proxy did, or HTTP/2 on behalf of one.
      return isTransient(code) || code === Code.Canceled || code === Code.ResourceExhausted;
    default:
      return false;
  }
}

/** After how much silence, in ms, a connection is taken for dead: two heartbeats that did not come. */
function silence({ heartbeatInterval }: MessageInitShape<typeof WatchEventsRequestSchema>): number {
  const seconds = Number(heartbeatInterval?.seconds ?? 15n);
  return 2 * 1000 * (seconds + Number(heartbeatInterval?.nanos ?? 0) / 1e9) + 5000;
}

async function within<T>(ms: number, answer: Promise<T>, tooLate: () => void): Promise<T> {
  const timer = setTimeout(tooLate, ms);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}
