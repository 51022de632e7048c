import { berthError, createCachingTransport, ErrorReason } from "@berthhq/client";
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { QueryClient } from "@tanstack/react-query";
import type { Auth } from "./auth";
import type { Connection } from "./connection";

/** How often a request that is safe to repeat is tried. */
const attempts = 3;

const isRead = ({ idempotency }: DescMethod): boolean =>
  idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/**
 * The transport to the server. Changes carry an idempotency key, so that they can be repeated if
 * the response is lost. A rejected token is renewed once. If the server is unreachable, the
 * connection is told.
 */
export function openTransport(auth: Auth, connection: Connection): Transport {
  const resilient: Interceptor = (next) => async (request) => {
    if (!isRead(request.method) && !request.stream)
      request.header.set("Idempotency-Key", crypto.randomUUID());
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await next(request);
        connection.found();
        return answer;
      } catch (thrown) {
        const { reason, code } = berthError(thrown);
        if (code === Code.Canceled) throw thrown;
        const unreachable = reason === ErrorReason.UNSPECIFIED && isUnreachable(thrown);
        if (!unreachable) connection.found();
        const again = unreachable || reason === ErrorReason.CONTENTION;
        if (!again || request.stream || attempt === attempts) {
          if (unreachable) connection.lost();
          throw thrown;
        }
        await pause(150 * 2 ** attempt * (0.5 + Math.random()));
      }
    }
  };
  const authenticated: Interceptor = (next) => async (request) => {
    const { state } = auth;
    // Requests without a tenant are for the chosen one.
    const message = request.message as { tenantId?: string };
    if ("tenant" in state && message.tenantId === "") message.tenantId = state.tenant;
    const send = async () => {
      const token = await auth.token();
      if (!token) throw new ConnectError("signed out", Code.Unauthenticated);
      request.header.set("Authorization", `Bearer ${token}`);
      return next(request);
    };
    try {
      return await send();
    } catch (thrown) {
      if (ConnectError.from(thrown).code !== Code.Unauthenticated || !(await auth.refused())) {
        throw thrown;
      }
      try {
        return await send();
      } catch (again) {
        if (ConnectError.from(again).code === Code.Unauthenticated) auth.expire();
        throw again;
      }
    }
  };
  return createCachingTransport({
    baseUrl: location.origin,
    useBinaryFormat: true,
    interceptors: [resilient, authenticated],
  });
}

/** There was no response, or one from a proxy instead of Berth. */
function isUnreachable(thrown: unknown): boolean {
  const error = ConnectError.from(thrown);
  return (
    error.code === Code.Unavailable ||
    error.cause instanceof TypeError ||
    (error.code === Code.Unknown && /fetch|network|load failed/i.test(error.rawMessage))
  );
}

export function openQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The transport already retries.
        retry: false,
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: true,
        // Whether the server is reachable shows by trying: it may run on this machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
