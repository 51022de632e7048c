import { newIdempotencyKey } from "@berthhq/client";
import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { use, useCallback, useState } from "react";
import { AuthContext } from "../auth/user";
import { ask, type Question } from "../dialogs/question";
import { here } from "../format/time";
import { useI18n } from "../i18n";
import { CallKeys } from "./call-keys";
import { explain, stepUpOf } from "./errors";

/** Shows an error, in the user's language. */
export function useFailed(): (error: unknown) => void {
  const { t, locale } = useI18n();
  return useCallback(
    (error) => {
      if (ConnectError.from(error).code === Code.Canceled) return;
      notifications.show({
        color: "red",
        title: t.errors.notDone,
        message: explain(error, t, locale, here()),
        autoClose: 9000,
      });
    },
    [t, locale],
  );
}

/** Makes a single read, for example to reload a form after a conflict. */
export function useRead() {
  const transport = useTransport();
  return <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
  ): Promise<MessageShape<O>> => callUnaryMethod(transport, method, input);
}

export interface CallOptions<O extends DescMessage> {
  /** The message on success. */
  done?: string | ((answer: MessageShape<O>) => string | undefined) | undefined;
  /** Throws errors instead of showing them. */
  quiet?: boolean;
  /** Asks the user first. The reason that they give is part of the request. */
  ask?: Question | undefined;
}

/**
 * Makes a call that changes something, then refetches all queries. With `quiet` the promise rejects
 * on failure; otherwise the error is shown and it resolves to undefined.
 */
export function useCall<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { done, quiet, ask: question }: CallOptions<O> = {},
) {
  const transport = useTransport();
  const queries = useQueryClient();
  const failed = useFailed();
  const auth = use(AuthContext);
  const [keys] = useState(() => new CallKeys(method.input, newIdempotencyKey));
  const { mutateAsync, isPending, variables, data, reset } = useMutation({
    mutationFn: (input: MessageInitShape<I>) =>
      callUnaryMethod(transport, method, input, {
        headers: { "Idempotency-Key": keys.keyOf(input) },
      }),
    onSuccess: (answer) => {
      keys.done();
      const message = typeof done === "function" ? done(answer) : done;
      if (message) notifications.show({ message, color: "tide" });
    },
    onError: (error) => {
      const stepUp = stepUpOf(error);
      if (stepUp) auth?.expired(stepUp);
      if (!quiet) failed(error);
    },
    // A refusal often means that the data has changed.
    onSettled: () => void queries.invalidateQueries(),
  });
  const run = async (input: MessageInitShape<I>) => {
    const sure = question ? await ask(question) : {};
    if (!sure) return undefined;
    const answer = mutateAsync({ ...input, ...sure });
    return quiet ? answer : answer.catch(() => undefined);
  };
  return { run, busy: isPending, input: variables, answer: data, reset };
}
