import { newIdempotencyKey } from "@berthhq/client";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useFailed } from "./calls";

/**
 * Makes one call after another, and then refetches all queries. It goes on after a call that fails, and shows the first
 * error. `done` is the share of calls that are done, from 0 to 1, while it runs.
 */
export function useEach<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
) {
  const transport = useTransport();
  const queries = useQueryClient();
  const failed = useFailed();
  const [done, setDone] = useState<number>();
  const run = async (inputs: readonly MessageInitShape<I>[]) => {
    const errors: unknown[] = [];
    setDone(0);
    for (const [index, input] of inputs.entries()) {
      const headers = { "Idempotency-Key": newIdempotencyKey() };
      await callUnaryMethod(transport, method, input, { headers }).catch((error: unknown) =>
        errors.push(error),
      );
      setDone((index + 1) / inputs.length);
    }
    setDone(undefined);
    if (errors.length > 0) failed(errors[0]);
    await queries.invalidateQueries();
  };
  return { run, done };
}
