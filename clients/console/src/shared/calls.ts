import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { use, useCallback, useState } from "react";
import { useI18n } from "../i18n";
import { ask, type Question } from "./ask";
import { explain, stepUpOf } from "./errors";
import { AuthContext } from "./me";
import { here } from "./time";

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

interface CallOptions<O> {
  /** The message on success. */
  done?: string | ((answer: O) => string | undefined);
  /** Throws errors instead of showing them. */
  quiet?: boolean;
  /** Asks the user first. The reason that they give is part of the request. */
  ask?: Question;
}

/**
 * Makes a call that changes something, then refetches all queries. With `quiet` the promise rejects
 * on failure; otherwise the error is shown and it resolves to undefined.
 */
export function useCall<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { done, quiet, ask: question }: CallOptions<MessageShape<O>> = {},
) {
  const transport = useTransport();
  const queries = useQueryClient();
  const failed = useFailed();
  const auth = use(AuthContext);
  const [busy, setBusy] = useState(false);
  const run = async (input: MessageInitShape<I>): Promise<MessageShape<O> | undefined> => {
    const sure = question ? await ask(question) : {};
    if (!sure) return undefined;
    setBusy(true);
    try {
      const answer = await callUnaryMethod(transport, method, { ...input, ...sure });
      void queries.invalidateQueries();
      const text = typeof done === "function" ? done(answer) : done;
      if (text) notifications.show({ message: text, color: "tide" });
      return answer;
    } catch (error) {
      void queries.invalidateQueries(); // a refusal often means that the data has changed
      const stepUp = stepUpOf(error);
      if (stepUp) auth?.expired(stepUp);
      if (quiet) throw error;
      failed(error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy };
}
