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

export interface Conduct {
  readonly credentials: Credentials;
  /** Put where a request names no tenant. */
  readonly tenantId?: string | undefined;
  /** How long a unary call may take with all its repetitions, in ms. */
  readonly timeoutMs: number;
  /** How many times a call is sent again. */
  readonly retries: number;
  readonly pause?: typeof pause;
  readonly random?: () => number;
}

/**
 * Gives a transport manners: calls carry a token, which is renewed when it is refused; mutations carry
 * an idempotency key; and what is safe to send again is sent again.
 *
 * It is a transport around a transport rather than an interceptor, so that each attempt is a call of
 * its own, which tells the server how much time is left.
 */
export function courteous(inner: Transport, conduct: Conduct): Transport {
  const { credentials, tenantId, retries, random = Math.random } = conduct;
  const sleep = conduct.pause ?? pause;

  function addressed<I extends DescMessage>(input: MessageInitShape<I>): MessageInitShape<I> {
    const named = (input as { tenantId?: string }).tenantId;
    return named || !tenantId ? input : { ...input, tenantId };
  }

  /** Says which token it put there. */
  async function authorize(method: DescMethod, headers: Headers): Promise<string | undefined> {
    if (isPublic(method) || headers.has("Authorization")) return undefined;
    const token = await credentials.current();
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    return token;
  }

  return {
    async unary(method, signal, timeoutMs = conduct.timeoutMs, header, input, contextValues) {
      const fixed = new Headers(header);
      if (takesKey(method) && !fixed.has("Idempotency-Key")) {
        fixed.set("Idempotency-Key", newKey());
      }
      const deadline = timeoutMs > 0 ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
      const message = addressed(input);
      let renewed = false;
      for (let attempt = 0; ; ) {
        const headers = new Headers(fixed);
        let token: string | undefined;
        try {
          token = await authorize(method, headers);
          const left = deadline - Date.now();
          // Zero would mean that there is no limit.
          const time = Number.isFinite(left) ? Math.max(1, left) : undefined;
          return await inner.unary(method, signal, time, headers, message, contextValues);
        } catch (thrown) {
          const error = ConnectError.from(thrown);
          if (signal?.aborted || Date.now() >= deadline) throw error;
          if (token !== undefined && !renewed && isUnauthenticated(error)) {
            renewed = true;
            if (await credentials.refused(token)) continue;
          }
          const wait = patience(error, isSafe(method), attempt, random);
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
      return inner.stream(method, signal, timeoutMs, headers, map(input, addressed), contextValues);
    },
  };
}

/**
 * How long to wait before a call is sent again, in ms; nothing where it must not be. Safe says
 * whether a call that may have been done can be done again.
 */
export function patience(
  error: ConnectError,
  safe: boolean,
  attempt: number,
  random: () => number = Math.random,
): number | undefined {
  const { reason, metadata } = berthError(error);
  switch (reason) {
    case ErrorReason.CONTENTION: // nothing happened
      return backoff(attempt, random);
    case ErrorReason.RATE_LIMITED: {
      const { retry_after = "1" } = metadata;
      const seconds = Number(retry_after);
      // Whoever is told to come back much later is told so.
      return seconds > longest / 1000 ? undefined : seconds * 1000 + backoff(attempt, random);
    }
    case ErrorReason.DEADLINE_EXCEEDED: // out of the server's time, not ours
    case ErrorReason.SHUTTING_DOWN:
      return safe ? backoff(attempt, random) : undefined;
    case ErrorReason.UNSPECIFIED: // not Berth's own: the network, or what stands in between
      return safe && isTransient(error.code) ? backoff(attempt, random) : undefined;
    default:
      return undefined;
  }
}

/** Between first and longest, the ceiling doubles; both in ms. */
const first = 100;
const longest = 10_000;

/** Full jitter: whoever failed together must not come back together. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(longest, first * 2 ** attempt);
}

/** What a connection that was refused, cut or lost comes out as. */
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

function reads(method: DescMethod): boolean {
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** A key is its caller's: where there is none, the server keeps no answers. */
function takesKey(method: DescMethod): boolean {
  return !reads(method) && !isPublic(method);
}

function isSafe(method: DescMethod): boolean {
  // Each exchange gives a token of its own, and changes nothing.
  return reads(method) || takesKey(method) || method === AccessService.method.exchangeKey;
}

/** 128 random bits. `crypto.randomUUID` would want a page from a secure origin. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Waits, in ms, or until the signal is given: then it throws. */
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
