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
import { useCallback, useState } from "react";
import { useSpeech } from "../i18n";
import { explain } from "./errors";
import { here } from "./time";

/** Tells what failed, in the reader's language. */
export function useFailed(): (error: unknown) => void {
  const { t, locale } = useSpeech();
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

/** Reads something once, for a form that was overtaken, say. */
export function useRead() {
  const transport = useTransport();
  return <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
  ): Promise<MessageShape<O>> => callUnaryMethod(transport, method, input);
}

interface Doing<O> {
  /** What to say when it is done. */
  done?: string | ((answer: O) => string | undefined);
  /** Errors are the caller's to show. */
  quiet?: boolean;
}

/**
 * A change. Everything that is on the screen is read again after it. With `quiet` the promise fails, else the
 * failure is told and it gives undefined.
 */
export function useDo<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { done, quiet }: Doing<MessageShape<O>> = {},
) {
  const transport = useTransport();
  const queries = useQueryClient();
  const failed = useFailed();
  const [busy, setBusy] = useState(false);
  const run = async (input: MessageInitShape<I>): Promise<MessageShape<O> | undefined> => {
    setBusy(true);
    try {
      const answer = await callUnaryMethod(transport, method, input);
      void queries.invalidateQueries();
      const said = typeof done === "function" ? done(answer) : done;
      if (said) notifications.show({ message: said, color: "tide" });
      return answer;
    } catch (error) {
      void queries.invalidateQueries(); // what was refused is often told by something that has changed
      if (quiet) throw error;
      failed(error);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy };
}
