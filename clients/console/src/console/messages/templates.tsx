import {
  berthError,
  ErrorReason,
  NotificationChannel,
  NotificationService,
  type NotificationTemplate,
  type TemplateVariable,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Select, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useRef, useState } from "react";
import { useI18n, useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useAddress } from "../../shared/address";
import { ask } from "../../shared/ask";
import { useCall, useRead } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { useCan } from "../../shared/me";
import { here } from "../../shared/time";
import { Card, Shown, Tag } from "../../shared/ui";
import { Conflict } from "../conflict";
import { offered, useLanguageNames } from "../languages";
import { choices } from "./filters";
import { Rendered } from "./mail";

/** The template to edit, from the URL. */
function useChosen(templates: readonly NotificationTemplate[]) {
  const { language } = useI18n();
  const [params, choose] = useAddress();
  const topic = Number(params.get("topic")) || 1;
  const channels = [
    ...new Set(templates.filter((one) => one.topic === topic).map((one) => one.channel)),
  ];
  const wanted = Number(params.get("channel"));
  const channel = channels.find((one) => one === wanted) ?? channels.at(-1) ?? wanted;
  const locale = params.get("locale") ?? language;
  return { topic, channels, channel, locale, choose };
}

export function Templates() {
  const templates = useQuery(NotificationService.method.listTemplates, {});
  return (
    <Shown of={templates} rows={12}>
      {(answer) => <Wording templates={answer.templates} />}
    </Shown>
  );
}

function Wording({ templates }: { templates: readonly NotificationTemplate[] }) {
  const n = useNotices();
  const { topic, channels, channel, locale, choose } = useChosen(templates);
  const among = templates.filter((one) => one.topic === topic && one.channel === channel);
  const existing = among.find((one) => one.locale === locale);
  // A new language starts with the English text.
  const like = existing ?? among.find((one) => one.locale === "en") ?? among[0];
  const languages = useLanguageNames([
    ...new Set([...offered, ...templates.map((one) => one.locale), locale]),
  ]);
  return (
    <>
      <div className="filters">
        <Select
          aria-label={n.topic}
          w={200}
          allowDeselect={false}
          value={String(topic)}
          onChange={(topic) => choose({ topic })}
          data={choices(n.topics)}
        />
        <Select
          aria-label={n.channel}
          w={150}
          allowDeselect={false}
          value={String(channel)}
          onChange={(channel) => choose({ channel })}
          data={choices(n.channels).filter(({ value }) =>
            channels.some((one) => String(one) === value),
          )}
        />
        <Select
          aria-label={n.templates.language}
          w={170}
          allowDeselect={false}
          searchable
          value={locale}
          onChange={(locale) => choose({ locale })}
          data={languages}
        />
      </div>
      {like && (
        <Editor
          key={`${topic} ${channel} ${locale}`}
          template={{ ...like, locale, etag: existing?.etag ?? "" }}
          state={!existing ? "noneYet" : existing.isDefault ? "builtIn" : "own"}
        />
      )}
    </>
  );
}

interface Values {
  subject: string;
  body: string;
  html: string;
}
type Field = keyof Values;

const versionOf = ({ subject, body, html, etag }: NotificationTemplate) => ({
  values: { subject, body, html },
  etag,
});

function Editor({
  template,
  state,
}: {
  template: NotificationTemplate;
  state: "noneYet" | "builtIn" | "own";
}) {
  const t = useText();
  const n = useNotices();
  const { locale } = useI18n();
  const can = useCan();
  const read = useRead();
  const editable = can("notification.write");
  const [error, setError] = useState<unknown>();
  const fields = useRef<Partial<Record<Field, HTMLInputElement | HTMLTextAreaElement | null>>>({});
  const last = useRef<Field>("body");
  const { topic, channel, locale: language } = template;
  const name = { topic, channel, locale: language };
  const update = useCall(NotificationService.method.updateTemplate, {
    quiet: true,
    done: t.done.saved,
  });
  const reset = useCall(NotificationService.method.resetTemplate, { done: n.templates.resetDone });
  const editing = useEditing<Values>({
    current: versionOf(template),
    failed: setError,
    reread: async () => {
      const answer = await read(NotificationService.method.listTemplates, name);
      return versionOf(answer.templates[0] ?? template);
    },
    save: (values, _, etag) => update.run({ template: { ...name, ...values, etag } }),
  });
  const { values, set } = editing;
  const [settled] = useDebouncedValue(values, 250);
  const preview = useQuery(
    NotificationService.method.previewTemplate,
    { template: { ...name, ...settled } },
    { enabled: settled.body.trim() !== "", placeholderData: (before) => before },
  );
  const wrong = preview.error ?? error;
  const fault = wrong ? faultOf(wrong) : undefined;
  const labels: Record<Field, string> = {
    subject: channel === NotificationChannel.PUSH ? n.templates.title : n.templates.subject,
    body: n.templates.body,
    html: n.templates.html,
  };
  const input = (field: Field) => ({
    label: labels[field],
    value: values[field],
    readOnly: !editable,
    onFocus: () => {
      last.current = field;
    },
    onChange: (event: { currentTarget: { value: string } }) => {
      setError(undefined);
      set({ [field]: event.currentTarget.value });
    },
    error:
      fault?.field === field ? (
        <>
          {n.templates.at(fault.line, fault.column)}: {fault.what}
        </>
      ) : undefined,
    styles: { input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } },
  });
  const keep = (field: Field) => (element: HTMLInputElement | HTMLTextAreaElement | null) => {
    fields.current[field] = element;
  };
  /** Moves the cursor to the error. */
  const show = (field: Field, line: string, column: string) => {
    const lines = values[field].split("\n").slice(0, Number(line) - 1);
    const at = lines.reduce((sum, one) => sum + one.length + 1, 0) + Number(column) - 1;
    fields.current[field]?.focus();
    fields.current[field]?.setSelectionRange(at, at + 2);
  };
  const put = (variable: string) => {
    const field = last.current;
    const element = fields.current[field];
    const text = values[field];
    const from = element?.selectionStart ?? text.length;
    const inserted = `{{.${variable}}}`;
    const after = text.slice(0, from) + inserted + text.slice(element?.selectionEnd ?? from);
    set({ [field]: after });
    requestAnimationFrame(() => {
      element?.focus();
      element?.setSelectionRange(from + inserted.length, from + inserted.length);
    });
  };
  return (
    <div className="wording">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          setError(undefined);
          void editing.submit();
        }}
      >
        <Conflict theirs={editing.theirs} names={labels} onTake={editing.takeTheirs} />
        <Card
          title={n.topics[topic]}
          extra={<Tag tone={state === "own" ? "accent" : "plain"}>{n.templates[state]}</Tag>}
        >
          <div className="form">
            {channel !== NotificationChannel.SMS && (
              <TextInput {...input("subject")} ref={keep("subject")} required maxLength={500} />
            )}
            <Textarea
              {...input("body")}
              ref={keep("body")}
              required
              autosize
              minRows={5}
              maxRows={22}
              maxLength={20_000}
            />
            {channel === NotificationChannel.EMAIL && (
              <Textarea
                {...input("html")}
                ref={keep("html")}
                description={n.templates.htmlNote}
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
                style={{ justifySelf: "start" }}
                onClick={() => show(fault.field, fault.line, fault.column)}
              >
                {n.templates.show}
              </Button>
            )}
            {wrong && !fault ? (
              <Alert color="red">{explain(wrong, t, locale, here())}</Alert>
            ) : null}
            {editable && (
              <div style={{ display: "flex", flexWrap: "wrap", gap: 8 }}>
                <Button
                  type="submit"
                  loading={editing.saving}
                  disabled={editing.changed.length === 0 || values.body.trim() === ""}
                >
                  {t.actions.save}
                </Button>
                {editing.changed.length > 0 && (
                  <Button variant="default" onClick={editing.reset}>
                    {t.actions.cancel}
                  </Button>
                )}
                {state === "own" && (
                  <Button
                    variant="subtle"
                    color="gray"
                    ml="auto"
                    loading={reset.busy}
                    onClick={async () => {
                      const sure = await ask({
                        title: n.templates.resetTitle,
                        body: n.templates.resetBody,
                        yes: n.templates.reset,
                        danger: true,
                      });
                      if (!sure) return;
                      editing.reset();
                      await reset.run({ ...name, etag: template.etag });
                    }}
                  >
                    {n.templates.reset}
                  </Button>
                )}
              </div>
            )}
          </div>
        </Card>
        <Variables all={template.variables} onPut={editable ? put : undefined} />
      </form>
      <section className="card wording-preview" aria-label={n.templates.preview}>
        <header>
          <h2 style={{ margin: 0, fontSize: 14, fontWeight: 600 }}>{n.templates.preview}</h2>
          <span className="muted" style={{ fontSize: 12 }}>
            {n.templates.previewNote}
          </span>
        </header>
        <div className="body" style={{ opacity: preview.error ? 0.5 : 1 }}>
          {preview.data?.message && <Rendered message={preview.data.message} />}
        </div>
      </section>
    </div>
  );
}

/** Where a template is invalid, and why. */
function faultOf(thrown: unknown) {
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

function Variables({
  all,
  onPut,
}: {
  all: readonly TemplateVariable[];
  onPut: ((name: string) => void) | undefined;
}) {
  const n = useNotices();
  return (
    <Card title={n.templates.variables} bare>
      <div className="scroll-x">
        <table className="table">
          <tbody>
            {all.map(({ name, description, example }) => (
              <tr key={name}>
                <td>
                  <Button
                    size="compact-xs"
                    variant="light"
                    disabled={!onPut}
                    aria-label={n.templates.insert(name)}
                    onClick={() => onPut?.(name)}
                  >
                    <code>{name}</code>
                  </Button>
                </td>
                <td>
                  <span lang="en">{description}</span>
                  <div className="muted" style={{ fontSize: 12, overflowWrap: "anywhere" }}>
                    {example}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
