import {
  type DescMessage,
  type DescMethod,
  getOption,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Credentials } from "./credentials.js";
import { type BerthError, berthError } from "./error.js";
import { Access_Rule, access } from "./gen/berth/v1/access_pb.js";
import { ErrorReason } from "./gen/berth/v1/error_pb.js";

export interface CallPolicy {
  readonly credentials: Credentials;
  /** The tenant of requests without one. */
  readonly tenantId?: string | (() => string | undefined) | undefined;
  /** Timeout of a unary call including retries, in ms. */
  readonly timeoutMs: number;
  /** How often a call is retried. */
  readonly retries: number;
  readonly onReachable?: (() => void) | undefined;
  readonly onUnreachable?: (() => void) | undefined;
  readonly pause?: typeof pause;
  readonly random?: () => number;
}

/**
 * Adds credentials, idempotency keys and retries to a transport. A rejected token is renewed once.
 *
 * It wraps the transport instead of being an interceptor, so that each attempt is a call of its own
 * and tells the server how much time is left.
 */
export function withRetries(inner: Transport, policy: CallPolicy): Transport {
  const { credentials, retries, random = Math.random } = policy;
  const sleep = policy.pause ?? pause;

  function withTenant<I extends DescMessage>(input: MessageInitShape<I>): MessageInitShape<I> {
    if ((input as { tenantId?: string }).tenantId) return input;
    const tenantId = typeof policy.tenantId === "function" ? policy.tenantId() : policy.tenantId;
    return tenantId ? { ...input, tenantId } : input;
  }

  /** Sets the Authorization header and returns the token. */
  async function authorize(method: DescMethod, headers: Headers): Promise<string | undefined> {
    if (isPublic(method) || headers.has("Authorization")) return undefined;
    const token = await credentials.current();
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    return token;
  }

  return {
    async unary(method, signal, timeoutMs = policy.timeoutMs, header, input, contextValues) {
      const baseHeaders = new Headers(header);
      if (usesIdempotencyKey(method) && !baseHeaders.has("Idempotency-Key")) {
        baseHeaders.set("Idempotency-Key", newIdempotencyKey());
      }
      const deadline = timeoutMs > 0 ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
      const message = withTenant(input);
      let renewed = false;
      for (let attempt = 0; ; ) {
        const headers = new Headers(baseHeaders);
        let token: string | undefined;
        try {
          token = await authorize(method, headers);
          const left = deadline - Date.now();
          // 0 would mean no timeout.
          const time = Number.isFinite(left) ? Math.max(1, left) : undefined;
          const answer = await inner.unary(method, signal, time, headers, message, contextValues);
          policy.onReachable?.();
          return answer;
        } catch (thrown) {
          const error = ConnectError.from(thrown);
          if (signal?.aborted) throw error;
          const unreachable = isUnreachable(error);
          if (!unreachable) policy.onReachable?.();
          if (token !== undefined && !renewed && isUnauthenticated(error)) {
            renewed = true;
            if (await credentials.refused(token)) continue;
          }
          const wait = retryDelay(error, isSafe(method), attempt, random);
          if (wait === undefined || attempt >= retries || Date.now() + wait >= deadline) {
            if (unreachable) policy.onUnreachable?.();
            if (isUnauthenticated(error)) credentials.expired?.();
            throw error;
          }
          attempt++;
          await sleep(wait, signal);
        }
      }
    },

    async stream(method, signal, timeoutMs, header, input, contextValues) {
      const headers = new Headers(header);
      await authorize(method, headers);
      const messages = map(input, withTenant);
      const answer = await inner.stream(
        method,
        signal,
        timeoutMs,
        headers,
        messages,
        contextValues,
      );
      policy.onReachable?.();
      return answer;
    },
  };
}

/**
 * The delay before a retry, in ms; undefined if the call must not be retried. safe says whether a
 * call that may have been executed can be repeated.
 */
export function retryDelay(
  error: ConnectError,
  safe: boolean,
  attempt: number,
  random: () => number = Math.random,
): number | undefined {
  const refusal = berthError(error);
  switch (refusal.reason) {
    case ErrorReason.CONTENTION: // nothing was executed
      return backoff(attempt, random);
    case ErrorReason.RATE_LIMITED: {
      const delay = retryAfter(refusal);
      // A long delay is the caller's decision.
      return delay > maxBackoff ? undefined : delay + backoff(attempt, random);
    }
    case ErrorReason.DEADLINE_EXCEEDED: // the server's deadline, not ours
    case ErrorReason.SHUTTING_DOWN:
      return safe ? backoff(attempt, random) : undefined;
    case ErrorReason.UNSPECIFIED:
      return safe && isUnreachable(error) ? backoff(attempt, random) : undefined;
    default:
      return undefined;
  }
}

/** Whether an error is from the network or a proxy, not from Berth. */
function isUnreachable(error: ConnectError): boolean {
  return berthError(error).reason === ErrorReason.UNSPECIFIED && isTransient(error.code);
}

/** The limits of the backoff, in ms. It doubles with each attempt. */
const minBackoff = 100;
const maxBackoff = 10_000;

/** The backoff with full jitter, in ms: clients that failed together do not retry together. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(maxBackoff, minBackoff * 2 ** attempt);
}

/** The delay that the server asks for, in ms; one second if it does not say. */
export function retryAfter({ metadata }: BerthError): number {
  const seconds = Number(metadata["retry_after"] || Number.NaN);
  return seconds >= 0 ? seconds * 1000 : 1000;
}

const { Unavailable, Unknown, Internal, Aborted, DeadlineExceeded } = Code;

/** Whether a code means that the connection was refused or lost. */
export const isTransient = (code: Code): boolean =>
  [Unavailable, Unknown, Internal, Aborted, DeadlineExceeded].includes(code);

export const isUnauthenticated = ({ code }: ConnectError): boolean => code === Code.Unauthenticated;

const isPublic = (method: DescMethod): boolean =>
  getOption(method, access).rule === Access_Rule.PUBLIC;

/** Whether a call changes nothing. Reads with a secret are idempotent: they are not sent over GET. */
const isRead = (method: DescMethod): boolean =>
  method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;

/** Idempotency keys belong to a caller: the server ignores them in public calls. */
const usesIdempotencyKey = (method: DescMethod): boolean => !isRead(method) && !isPublic(method);

/** Whether a call can be repeated. An exchange only issues another token. */
const isSafe = (method: DescMethod): boolean =>
  isRead(method) || usesIdempotencyKey(method) || method.name === "ExchangeKey";

/** An idempotency key: 128 random bits. `crypto.randomUUID` works on secure origins only. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Waits a number of ms. Throws if the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(ConnectError.from(signal?.reason, Code.Canceled));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

async function* map<T>(items: AsyncIterable<T>, change: (item: T) => T): AsyncGenerator<T> {
  for await (const item of items) yield change(item);
}
