import { create, type DescMethod, getOption, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import { type ConnectTransportOptions, createConnectTransport } from "@connectrpc/connect-web";
import { access } from "./gen/berth/v1/access_pb.js";

/** To read what everybody in a tenant may see: such answers, and no others, the server lets a browser keep. */
const keepable = new Set([
  "catalog.read",
  "plan.read",
  "policy.read",
  "session.read",
  "tenant.read",
  "workout.read",
]);

/** Longer requests, in bytes, are posted: what stands in between may refuse a long address. */
const longest = 1024;

/**
 * Connect for browsers, with their cache: the schedule and the catalog are read by HTTP GET. The browser keeps the answers,
 * asks each time whether they still hold, and where they do they are not sent again. All else is posted, so that
 * addresses, which end up in logs, tell of no person.
 */
export function createCachingTransport(options: ConnectTransportOptions): Transport {
  const post = createConnectTransport(options);
  const get = createConnectTransport({ ...options, useHttpGet: true });
  return {
    unary(method, signal, timeoutMs, header, input, contextValues) {
      const short = () => toBinary(method.input, create(method.input, input)).length <= longest;
      const { unary } = isKeepable(method) && short() ? get : post;
      return unary(method, signal, timeoutMs, header, input, contextValues);
    },
    stream: post.stream,
  };
}

/** Whether a browser may keep the method's answers. */
export function isKeepable(method: DescMethod): boolean {
  return (
    method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
    keepable.has(getOption(method, access).permission)
  );
}
