import { Button, Modal, Textarea } from "@mantine/core";
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { useText } from "../i18n";
import { useLast } from "./last";

interface Question {
  readonly title: string;
  readonly body?: ReactNode;
  readonly yes: string;
  readonly danger?: boolean;
  /** Asks for a reason, with this label. */
  readonly reason?: string;
}

type Answer = { readonly reason: string } | undefined;

let current: { question: Question; done: (answer: Answer) => void } | undefined;
const listeners = new Set<() => void>();

function show(next: typeof current): void {
  current = next;
  for (const listener of listeners) listener();
}

/** Shows a confirmation dialog. Resolves to undefined if the user cancels. */
export function ask(question: Question): Promise<Answer> {
  return new Promise((done) => show({ question, done }));
}

/** Renders the confirmation dialogs. */
export function AskDialog() {
  const t = useText();
  const pending = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
  const [reason, setReason] = useState("");
  const answer = (given: Answer) => {
    pending?.done(given);
    setReason("");
    show(undefined);
  };
  const question = useLast(pending)[0]?.question;
  return (
    <Modal
      opened={pending !== undefined}
      // Above the dialog or drawer that opened it.
      zIndex={300}
      onClose={() => answer(undefined)}
      title={question?.title ?? ""}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          answer({ reason });
        }}
      >
        {question?.body && (
          <div style={{ color: "var(--ink-2)", marginBottom: 14 }}>{question.body}</div>
        )}
        {question?.reason && (
          <Textarea
            label={question.reason}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            autosize
            minRows={2}
            maxLength={1000}
            mb="md"
            data-autofocus
          />
        )}
        <div style={{ display: "flex", justifyContent: "flex-end", gap: 8 }}>
          <Button variant="default" onClick={() => answer(undefined)}>
            {t.actions.back}
          </Button>
          <Button
            type="submit"
            color={question?.danger ? "red.8" : "tide"}
            data-autofocus={!question?.reason}
          >
            {question?.yes}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
