import {
  type DescMessage,
  type DescMethod,
  getOption,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Credentials } from "./credentials.js";
import { berthError } from "./error.js";
import { Access_Rule, access } from "./gen/berth/v1/access_pb.js";
import { AccessService } from "./gen/berth/v1/access_service_pb.js";
import { ErrorReason } from "./gen/berth/v1/error_pb.js";

export interface CallPolicy {
  readonly credentials: Credentials;
  /** The tenant of requests without one. */
  readonly tenantId?: string | undefined;
  /** Timeout of a unary call including retries, in ms. */
  readonly timeoutMs: number;
  /** How often a call is retried. */
  readonly retries: number;
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
  const { credentials, tenantId, retries, random = Math.random } = policy;
  const sleep = policy.pause ?? pause;

  function withTenant<I extends DescMessage>(input: MessageInitShape<I>): MessageInitShape<I> {
    const named = (input as { tenantId?: string }).tenantId;
    return named || !tenantId ? input : { ...input, tenantId };
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
        baseHeaders.set("Idempotency-Key", newKey());
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
          return await inner.unary(method, signal, time, headers, message, contextValues);
        } catch (thrown) {
          const error = ConnectError.from(thrown);
          if (signal?.aborted || Date.now() >= deadline) throw error;
          if (token !== undefined && !renewed && isUnauthenticated(error)) {
            renewed = true;
            if (await credentials.refused(token)) continue;
          }
          const wait = retryDelay(error, isSafe(method), attempt, random);
          if (wait === undefined || attempt >= retries || Date.now() + wait >= deadline) {
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
      return inner.stream(
        method,
        signal,
        timeoutMs,
        headers,
        map(input, withTenant),
        contextValues,
      );
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
  const { reason, metadata } = berthError(error);
  switch (reason) {
    case ErrorReason.CONTENTION: // nothing was executed
      return backoff(attempt, random);
    case ErrorReason.RATE_LIMITED: {
      const { retry_after = "1" } = metadata;
      const seconds = Number(retry_after);
      // A long delay is the caller's decision.
      return seconds > maxBackoff / 1000 ? undefined : seconds * 1000 + backoff(attempt, random);
    }
    case ErrorReason.DEADLINE_EXCEEDED: // the server's deadline, not ours
    case ErrorReason.SHUTTING_DOWN:
      return safe ? backoff(attempt, random) : undefined;
    case ErrorReason.UNSPECIFIED: // from the network or a proxy, not from Berth
      return safe && isTransient(error.code) ? backoff(attempt, random) : undefined;
    default:
      return undefined;
  }
}

/** The limits of the backoff, in ms. It doubles with each attempt. */
const minBackoff = 100;
const maxBackoff = 10_000;

/** The backoff with full jitter, in ms: clients that failed together do not retry together. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(maxBackoff, minBackoff * 2 ** attempt);
}

/** Whether a code means that the connection was refused or lost. */
export function isTransient(code: Code): boolean {
  return (
    code === Code.Unavailable ||
    code === Code.Unknown ||
    code === Code.Internal ||
    code === Code.Aborted ||
    code === Code.DeadlineExceeded
  );
}

export function isUnauthenticated(error: ConnectError): boolean {
  return error.code === Code.Unauthenticated;
}

function isPublic(method: DescMethod): boolean {
  return getOption(method, access).rule === Access_Rule.PUBLIC;
}

function isRead(method: DescMethod): boolean {
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Idempotency keys belong to a caller: the server ignores them in public calls. */
function usesIdempotencyKey(method: DescMethod): boolean {
  return !isRead(method) && !isPublic(method);
}

function isSafe(method: DescMethod): boolean {
  // An exchange only issues another token.
  return (
    isRead(method) || usesIdempotencyKey(method) || method === AccessService.method.exchangeKey
  );
}

/** 128 random bits. `crypto.randomUUID` works on secure origins only. */
function newKey(): string {
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
