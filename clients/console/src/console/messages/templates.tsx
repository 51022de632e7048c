import { NotificationService, type NotificationTemplate } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Box, Button, Group, Select, Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useRef } from "react";
import { explain } from "../../shared/api/errors";
import { useCan } from "../../shared/auth/user";
import { here } from "../../shared/format/time";
import { useEditing } from "../../shared/forms/editing";
import { useI18n, useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { Card, QueryResult, Tag } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import { routes } from "../routes";
import { Conflict, DataTable, Dimmed, Note, NumberSelect, offered, useLanguageNames } from "../ui";
import { useSave } from "../ui/edit-form";
import text from "../ui/text.module.css";
import { worded } from "./filters";
import { Rendered } from "./mail";
import classes from "./template-editor.module.css";
import { type Cursor, faultOf, TemplateFields, useLabels } from "./template-fields";
import { messageTexts } from "./texts";

export function Templates() {
  const templates = useQuery(NotificationService.method.listNotificationTemplates, {});
  return (
    <QueryResult query={templates} rows={12}>
      {(answer) => <Wording templates={answer.templates} />}
    </QueryResult>
  );
}

function Wording({ templates }: { templates: readonly NotificationTemplate[] }) {
  const { t, language } = useI18n(messageTexts, notificationTexts);
  const [search, choose] = routes.messages.useSearch();
  const topic = search.topic || 1;
  const channels = templates.filter((one) => one.topic === topic).map((one) => one.channel);
  const wanted = search.channel;
  const channel = channels.find((one) => one === wanted) ?? channels.at(-1) ?? wanted;
  const locale = search.locale || language;
  const among = templates.filter((one) => one.topic === topic && one.channel === channel);
  const existing = among.find((one) => one.locale === locale);
  // A new language starts with the English text.
  const like = existing ?? among.find((one) => one.locale === "en") ?? among[0];
  const languages = useLanguageNames([
    ...new Set([...offered, ...templates.map((one) => one.locale), locale]),
  ]);
  return (
    <>
      <Group gap={8} mb={12}>
        <NumberSelect
          label={t.notifications.topic}
          w={200}
          names={t.notifications.topics}
          only={worded}
          value={topic}
          onChange={(topic) => choose({ topic })}
        />
        <NumberSelect
          label={t.notifications.channel}
          names={t.notifications.channels}
          only={channels}
          value={channel}
          onChange={(channel) => choose({ channel })}
        />
        <Select
          aria-label={t.messages.templates.language}
          w={170}
          allowDeselect={false}
          searchable
          value={locale}
          onChange={(locale) => choose({ locale: locale ?? "" })}
          data={languages}
        />
      </Group>
      {like && (
        <TemplateEditor
          key={`${topic} ${channel} ${locale}`}
          template={{ ...like, locale, etag: existing?.etag ?? "" }}
          state={!existing ? "noneYet" : existing.isDefault ? "builtIn" : "own"}
        />
      )}
    </>
  );
}

const valuesOf = ({ subject, body, html }: NotificationTemplate) => ({ subject, body, html });

interface TemplateEditorProps {
  template: NotificationTemplate;
  state: "noneYet" | "builtIn" | "own";
}

/** Edits a template, with a preview. */
function TemplateEditor({ template, state }: TemplateEditorProps) {
  const { t, locale } = useI18n(messageTexts, notificationTexts);
  const can = useCan();
  const editable = can("notification.write");
  const cursor = useRef<Cursor>(null);
  const { topic, channel } = template;
  const name = { topic, channel, locale: template.locale };
  const labels = useLabels(channel);
  const update = useSave(NotificationService.method.updateNotificationTemplate);
  const editing = useEditing({
    entity: template,
    valuesOf,
    save: (values, _, etag) => update({ ...name, template: values, etag }),
  });
  const { values, set, changed, error, setError } = editing;
  const [settled] = useDebouncedValue(values, 250);
  const preview = useQuery(
    NotificationService.method.previewNotificationTemplate,
    { ...name, template: settled },
    { enabled: settled.body.trim() !== "", placeholderData: (before) => before },
  );
  const wrong = preview.error ?? error;
  return (
    <div className={classes.editor}>
      <Stack component="form" gap={14} onSubmit={editing.onSubmit}>
        <Conflict theirs={editing.theirs} names={labels} onTake={editing.takeTheirs} />
        <Card
          title={t.notifications.topics[topic]}
          extra={
            <Tag tone={state === "own" ? "accent" : "plain"}>{t.messages.templates[state]}</Tag>
          }
        >
          <Stack gap={14}>
            <TemplateFields
              channel={channel}
              values={values}
              error={wrong}
              readOnly={!editable}
              cursor={cursor}
              onChange={(part) => {
                setError(undefined);
                set(part);
              }}
            />
            {wrong && !faultOf(wrong) ? (
              <Alert color="red">{explain(wrong, t, locale, here())}</Alert>
            ) : null}
            {editable && (
              <Group gap={8}>
                <Button
                  type="submit"
                  loading={editing.saving}
                  disabled={changed.length === 0 || values.body.trim() === ""}
                >
                  {t.actions.save}
                </Button>
                {changed.length > 0 && (
                  <Button variant="default" onClick={editing.reset}>
                    {t.actions.cancel}
                  </Button>
                )}
                {state === "own" && (
                  <CallButton
                    variant="subtle"
                    color="gray"
                    ml="auto"
                    method={NotificationService.method.resetNotificationTemplate}
                    input={{ ...name, etag: template.etag }}
                    ask={{
                      title: t.messages.templates.resetTitle,
                      body: t.messages.templates.resetBody,
                      yes: t.messages.templates.reset,
                      danger: true,
                    }}
                    done={t.messages.templates.resetDone}
                    onDone={editing.reset}
                  >
                    {t.messages.templates.reset}
                  </CallButton>
                )}
              </Group>
            )}
          </Stack>
        </Card>
        <Variables
          all={template.variables}
          onPut={editable ? (variable) => cursor.current?.insert(`{{.${variable}}}`) : undefined}
        />
      </Stack>
      <Card
        className={classes.preview}
        aria-label={t.messages.templates.preview}
        title={t.messages.templates.preview}
        extra={<Dimmed fz="xs">{t.messages.templates.previewNote}</Dimmed>}
      >
        <Box opacity={preview.error ? 0.5 : 1}>
          {preview.data?.message && <Rendered message={preview.data.message} />}
        </Box>
      </Card>
    </div>
  );
}

interface VariablesProps {
  all: NotificationTemplate["variables"];
  onPut: ((name: string) => void) | undefined;
}

function Variables({ all, onPut }: VariablesProps) {
  const t = useText(messageTexts);
  return (
    <Card title={t.messages.templates.variables} bare>
      <DataTable
        rows={all}
        id="name"
        columns={[
          {
            show: ({ name }) => (
              <Button
                size="compact-xs"
                variant="light"
                disabled={!onPut}
                aria-label={t.messages.templates.insert(name)}
                onClick={() => onPut?.(name)}
              >
                <code>{name}</code>
              </Button>
            ),
          },
          {
            show: ({ description, example }) => (
              <>
                <span lang="en">{description}</span>
                <Note className={text.anywhere}>{example}</Note>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}
