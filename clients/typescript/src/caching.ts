import { create, type DescMethod, getOption, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import { type ConnectTransportOptions, createConnectTransport } from "@connectrpc/connect-web";
import { access } from "./gen/berth/v1/access_pb.js";

/** Permissions that all members have. The server allows caching only for methods that need one of them. */
const cacheable = new Set([
  "catalog.read",
  "plan.read",
  "policy.read",
  "session.read",
  "tenant.read",
  "workout.read",
]);

/** Longer requests, in bytes, use POST, because proxies may reject long URLs. */
const maxGetBytes = 1024;

/**
 * A Connect transport that uses the browser's cache: it reads the schedule and the catalog with HTTP
 * GET. The browser revalidates cached answers with each call, and the server does not send unchanged
 * ones again. All other calls use POST, so that URLs, which end up in logs, contain no personal data.
 */
export function createCachingTransport(options: ConnectTransportOptions): Transport {
  const post = createConnectTransport(options);
  const get = createConnectTransport({ ...options, useHttpGet: true });
  return {
    unary(method, signal, timeoutMs, header, input, contextValues) {
      const short = () => toBinary(method.input, create(method.input, input)).length <= maxGetBytes;
      const { unary } = isCacheable(method) && short() ? get : post;
      return unary(method, signal, timeoutMs, header, input, contextValues);
    },
    stream: post.stream,
  };
}

/** Whether a browser may cache the method's answers. */
export function isCacheable(method: DescMethod): boolean {
  return (
    method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
    cacheable.has(getOption(method, access).permission)
  );
}
