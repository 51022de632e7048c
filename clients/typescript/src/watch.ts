import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import type { Credentials } from "./credentials.js";
import { type BerthError, berthError } from "./error.js";
import { ErrorReason } from "./gen/berth/v1/error_pb.js";
import type { Event } from "./gen/berth/v1/event_pb.js";
import { EventService, type WatchEventsRequestSchema } from "./gen/berth/v1/event_service_pb.js";
import { backoff, isTransient, isUnauthenticated, pause, retryAfter } from "./transport.js";

/** Options of a watch. */
export interface WatchOptions {
  /** Ends the watch: the loop ends without an error. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when the watch starts, and then after the loop has handled each batch. A later watch from
   * this cursor misses no event and repeats none. The cursor advances even if the filter matches
   * nothing.
   */
  readonly onCursor?: ((cursor: string) => void) | undefined;
  /** Called when the connection is lost. The watch reconnects, then calls `onCursor`. */
  readonly onDisconnect?: ((error: BerthError) => void) | undefined;
}

/**
 * Yields events until the loop is left. After a lost connection it continues from the last cursor.
 * Throws errors that retrying cannot fix, such as PERMISSION_DENIED.
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
  let rejected = false;
  while (!signal?.aborted) {
    const connection = new AbortController();
    const disconnect = () => connection.abort();
    signal?.addEventListener("abort", disconnect, { once: true });
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
        const { value, done } = await withTimeout(
          silenceTimeout(request),
          stream.next(),
          disconnect,
        );
        if (done) break;
        for (const event of value.events) {
          yield event;
          if (signal?.aborted) return;
        }
        cursor = value.cursor;
        onCursor?.(cursor);
        rejected = false;
        // Only a second message resets the backoff: a server may greet and then hang up each time.
        if (!first) failures = 0;
      }
      lost = new ConnectError("the stream ended", Code.Unavailable);
    } catch (thrown) {
      lost = ConnectError.from(thrown);
    } finally {
      disconnect(); // also when the loop is left, which a stream does not notice
      signal?.removeEventListener("abort", disconnect);
    }
    if (signal?.aborted) return;

    if (isUnauthenticated(lost)) {
      if (rejected || !(await credentials.refused(token))) {
        credentials.expired?.();
        throw lost;
      }
      rejected = true; // if the new token is rejected too, give up
      continue;
    }
    const error = berthError(lost);
    if (!isRetryable(error)) throw lost;
    onDisconnect?.(error);
    const delay = error.reason === ErrorReason.RATE_LIMITED ? retryAfter(error) : 0;
    const wait = delay + backoff(failures++, clock.random);
    await clock.pause(wait, signal).catch(() => undefined); // an aborted signal ends the loop above
  }
}

/** A watch over a transport. */
export const watchOver = (
  transport: Transport,
  credentials: Credentials,
  request: MessageInitShape<typeof WatchEventsRequestSchema>,
  options?: WatchOptions,
) => watch(createClient(EventService, transport), credentials, request, options);

/** Whether a watch reconnects after this error. */
function isRetryable({ reason, code }: BerthError): boolean {
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
      // Cancelled by a proxy or by HTTP/2, not by us.
      return isTransient(code) || code === Code.Canceled || code === Code.ResourceExhausted;
    default:
      return false;
  }
}

/** How long without a message, in ms, a connection counts as dead: two missed heartbeats. */
function silenceTimeout({
  heartbeatInterval,
}: MessageInitShape<typeof WatchEventsRequestSchema>): number {
  const seconds = Number(heartbeatInterval?.seconds ?? 15n);
  return 2 * 1000 * (seconds + Number(heartbeatInterval?.nanos ?? 0) / 1e9) + 5000;
}

async function withTimeout<T>(ms: number, answer: Promise<T>, onTimeout: () => void): Promise<T> {
  const timer = setTimeout(onTimeout, ms);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}
