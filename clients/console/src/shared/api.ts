import { berthError, createCachingTransport, ErrorReason } from "@berthhq/client";
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { QueryClient } from "@tanstack/react-query";
import type { Auth } from "./auth";
import type { Connection } from "./connection";

/** How often something that is safe to repeat is tried before its failure is told. */
const attempts = 3;

const isRead = ({ idempotency }: DescMethod): boolean =>
  idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/**
 * The way to the server. Every change carries an idempotency key, so that it can be sent again when
 * nobody knows whether it arrived; a token that is not taken is renewed once; and what fails because the
 * server is not there is told to the connection.
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
        const unreached = reason === ErrorReason.UNSPECIFIED && isUnreached(thrown);
        if (!unreached) connection.found();
        const again = unreached || reason === ErrorReason.CONTENTION;
        if (!again || request.stream || attempt === attempts) {
          if (unreached) connection.lost();
          throw thrown;
        }
        await pause(150 * 2 ** attempt * (0.5 + Math.random()));
      }
    }
  };
  const authenticated: Interceptor = (next) => async (request) => {
    const { state } = auth;
    // Requests that name no tenant are about the one that was chosen.
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

/** The browser got no answer, or somebody on the way gave one that is not Berth's. */
function isUnreached(thrown: unknown): boolean {
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
        // The transport tries again by itself.
        retry: false,
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: true,
        // Whether there is a connection is seen by trying: the server may be on this machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
