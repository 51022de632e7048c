import {
  berthError,
  ErrorReason,
  NotificationChannel,
  type NotificationTemplate,
} from "@berthhq/client";
import { Button, Textarea, TextInput } from "@mantine/core";
import { type RefObject, useImperativeHandle, useRef } from "react";
import { useText } from "../../shared/i18n";
import text from "../ui/text.module.css";
import { messageTexts } from "./texts";

export interface Values {
  subject: string;
  body: string;
  html: string;
}
export type Field = keyof Values;

/** Where a template is invalid, and why. */
export function faultOf(thrown: unknown) {
  if (!thrown) return undefined;
  const { reason, metadata, message } = berthError(thrown);
  if (reason !== ErrorReason.TEMPLATE_INVALID) return undefined;
  const { field = "", line = "1", column = "1" } = metadata;
  const named = field.split(".").at(-1);
  return {
    field: (named === "subject" || named === "html" ? named : "body") as Field,
    line,
    column,
    what: message.replace(/^Line \d+, column \d+ of \w+: /, ""),
  };
}

/** The names of the fields. */
export function useLabels(channel: NotificationChannel): Record<Field, string> {
  const t = useText(messageTexts);
  return {
    subject:
      channel === NotificationChannel.PUSH
        ? t.messages.templates.title
        : t.messages.templates.subject,
    body: t.messages.templates.body,
    html: t.messages.templates.html,
  };
}

export interface Cursor {
  /** Inserts a text at the cursor. */
  readonly insert: (text: string) => void;
}

/** The texts of a template. An error is shown below its field, and can be jumped to. */
export function TemplateFields({
  channel,
  values,
  error,
  readOnly,
  cursor,
  onChange,
}: Pick<NotificationTemplate, "channel"> & {
  values: Values;
  error: unknown;
  readOnly: boolean;
  cursor: RefObject<Cursor | null>;
  onChange: (part: Partial<Values>) => void;
}) {
  const t = useText(messageTexts);
  const labels = useLabels(channel);
  const fields = useRef<Partial<Record<Field, HTMLInputElement | HTMLTextAreaElement | null>>>({});
  const last = useRef<Field>("body");
  const fault = faultOf(error);
  useImperativeHandle(cursor, () => ({
    insert: (inserted) => {
      const field = last.current;
      const element = fields.current[field];
      const value = values[field];
      const from = element?.selectionStart ?? value.length;
      const to = element?.selectionEnd ?? from;
      onChange({ [field]: value.slice(0, from) + inserted + value.slice(to) });
      requestAnimationFrame(() => {
        element?.focus();
        element?.setSelectionRange(from + inserted.length, from + inserted.length);
      });
    },
  }));
  const input = (field: Field) => ({
    ref: (element: HTMLInputElement | HTMLTextAreaElement | null) => {
      fields.current[field] = element;
    },
    label: labels[field],
    value: values[field],
    readOnly,
    onFocus: () => {
      last.current = field;
    },
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ [field]: event.currentTarget.value }),
    error:
      fault?.field === field ? (
        <>
          {t.messages.templates.at(fault.line, fault.column)}: {fault.what}
        </>
      ) : undefined,
    classNames: { input: text.mono ?? "" },
  });
  /** Moves the cursor to the error. */
  const show = (field: Field, line: string, column: string) => {
    const lines = values[field].split("\n").slice(0, Number(line) - 1);
    const at = lines.reduce((sum, one) => sum + one.length + 1, 0) + Number(column) - 1;
    fields.current[field]?.focus();
    fields.current[field]?.setSelectionRange(at, at + 2);
  };
  return (
    <>
      {channel !== NotificationChannel.SMS && (
        <TextInput {...input("subject")} required maxLength={500} />
      )}
      <Textarea {...input("body")} required autosize minRows={5} maxRows={22} maxLength={20_000} />
      {channel === NotificationChannel.EMAIL && (
        <Textarea
          {...input("html")}
          description={t.messages.templates.htmlNote}
          autosize
          minRows={2}
          maxRows={22}
          maxLength={100_000}
        />
      )}
      {fault && (
        <Button
          variant="default"
          size="compact-sm"
          w="fit-content"
          onClick={() => show(fault.field, fault.line, fault.column)}
        >
          {t.messages.templates.show}
        </Button>
      )}
    </>
  );
}
