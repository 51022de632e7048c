import { NotificationService, type NotificationSettings, type QuietHours } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { ActionIcon, Button, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { TimeInput } from "@mantine/dates";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useCall, useRead } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { bind, Refused } from "../../shared/form";
import { useCan } from "../../shared/me";
import { HOUR, showSpan, spanMs, timeOfDay, wallClock } from "../../shared/time";
import { Card, Shown } from "../../shared/ui";
import { Conflict } from "../conflict";
import { maskOf } from "../form";
import { offered, useLanguageNames } from "../languages";
import type { Night } from "../layers/kinds";
import { SpanInput } from "../layers/span";
import { SaveBar } from "../save-bar";

interface Values {
  quietHours: Night | null;
  emailInQuietHours: boolean;
  smsPerDay: number;
  pushPerDay: number;
  emailPerDay: number;
  /** In milliseconds. */
  reminders: number[];
  senderName: string;
  replyTo: string;
  creditsLowAt: number;
  locale: string;
}

function nightOf(quiet: QuietHours | undefined): Night | null {
  const night = quiet && { start: wallClock(quiet.start), end: wallClock(quiet.end) };
  return night && night.start !== night.end ? night : null;
}

function versionOf(settings: NotificationSettings | undefined) {
  const values: Values = {
    quietHours: nightOf(settings?.quietHours),
    emailInQuietHours: settings?.emailInQuietHours ?? false,
    smsPerDay: settings?.smsPerDay ?? 0,
    pushPerDay: settings?.pushPerDay ?? 0,
    emailPerDay: settings?.emailPerDay ?? 0,
    reminders: settings?.reminders.map(spanMs) ?? [],
    senderName: settings?.senderName ?? "",
    replyTo: settings?.replyTo ?? "",
    creditsLowAt: settings?.creditsLowAt ?? 0,
    locale: settings?.locale ?? "",
  };
  return { values, etag: settings?.etag ?? "" };
}

export function Settings() {
  const settings = useQuery(NotificationService.method.getNotificationSettings, {});
  return (
    <Shown of={settings} rows={12}>
      {(answer) => <Form settings={answer.settings} />}
    </Shown>
  );
}

function Form({ settings }: { settings: NotificationSettings | undefined }) {
  const t = useText();
  const n = useNotices();
  const can = useCan();
  const read = useRead();
  const editable = can("notification.write");
  const [error, setError] = useState<unknown>();
  const update = useCall(NotificationService.method.updateNotificationSettings, {
    quiet: true,
    done: t.done.saved,
  });
  const editing = useEditing<Values>({
    current: versionOf(settings),
    failed: setError,
    reread: async () => {
      const answer = await read(NotificationService.method.getNotificationSettings, {});
      return versionOf(answer.settings);
    },
    save: ({ quietHours, reminders, ...values }, changed, etag) =>
      update.run({
        settings: {
          ...values,
          etag,
          ...(quietHours && {
            quietHours: { start: timeOfDay(quietHours.start), end: timeOfDay(quietHours.end) },
          }),
          reminders: reminders.map(durationFromMs),
        },
        updateMask: { paths: changed.map(maskOf) },
      }),
  });
  const { values, set } = editing;
  const form = bind(values, set);
  const night = values.quietHours;
  const languages = useLanguageNames([...new Set([...offered, values.locale])].filter(Boolean));
  const number = (key: "smsPerDay" | "pushPerDay" | "emailPerDay" | "creditsLowAt") => ({
    disabled: !editable,
    value: values[key],
    onChange: (next: string | number) => set({ [key]: Number(next) || 0 }),
  });
  const time = (key: keyof Night, label: string) =>
    night && (
      <TimeInput
        label={label}
        disabled={!editable}
        value={night[key]}
        onChange={(event) => set({ quietHours: { ...night, [key]: event.currentTarget.value } })}
      />
    );
  const names: Partial<Record<keyof Values, string>> = {
    quietHours: n.settings.quiet,
    emailInQuietHours: n.settings.emailInQuiet,
    smsPerDay: n.channels[1] ?? "",
    pushPerDay: n.channels[2] ?? "",
    emailPerDay: n.channels[3] ?? "",
    reminders: n.settings.reminders,
    senderName: n.settings.senderName,
    replyTo: n.settings.replyTo,
    creditsLowAt: n.settings.creditsLow,
    locale: n.settings.locale,
  };
  return (
    <form
      className="stack"
      style={{ maxWidth: 720 }}
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit();
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={names}
        show={(key, value) => {
          if (key === "reminders") return (value as number[]).map(showSpan).join(", ");
          if (typeof value === "boolean") return value ? t.policies.yes : t.policies.no;
          const theirs = value as Night | string | number | null;
          if (theirs === null) return n.settings.none;
          return typeof theirs === "object" ? `${theirs.start}–${theirs.end}` : String(theirs);
        }}
        onTake={editing.takeTheirs}
      />
      <Card title={n.settings.quiet}>
        <div className="form">
          <p className="muted" style={{ margin: 0 }}>
            {n.settings.quietNote}
          </p>
          <Switch
            label={n.settings.quietOn}
            disabled={!editable}
            checked={night !== null}
            onChange={(event) =>
              set({
                quietHours: event.currentTarget.checked ? { start: "21:00", end: "08:00" } : null,
              })
            }
          />
          {night && (
            <div className="two">
              {time("start", n.settings.from)}
              {time("end", n.settings.to)}
            </div>
          )}
          <Switch
            label={n.settings.emailInQuiet}
            disabled={!editable}
            {...form.flag("emailInQuietHours")}
          />
        </div>
      </Card>
      <Card title={n.settings.caps}>
        <div className="form">
          <p className="muted" style={{ margin: 0 }}>
            {n.settings.capsNote}
          </p>
          <div className="three">
            <NumberInput {...number("smsPerDay")} label={n.channels[1]} min={1} max={100} />
            <NumberInput {...number("pushPerDay")} label={n.channels[2]} min={1} max={100} />
            <NumberInput {...number("emailPerDay")} label={n.channels[3]} min={1} max={100} />
          </div>
        </div>
      </Card>
      <Card title={n.settings.reminders}>
        <div className="form">
          <p className="muted" style={{ margin: 0 }}>
            {n.settings.remindersNote}
          </p>
          {values.reminders.map((ms, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a reminder has no id
            <div key={at} style={{ display: "flex", gap: 6, alignItems: "center" }}>
              <SpanInput
                size="sm"
                label={n.settings.amount}
                value={ms}
                disabled={!editable}
                onChange={(next) =>
                  set({ reminders: values.reminders.map((one, i) => (i === at ? next : one)) })
                }
              />
              {editable && (
                <ActionIcon
                  aria-label={`${t.actions.remove}: ${showSpan(ms)}`}
                  onClick={() => set({ reminders: values.reminders.filter((_, i) => i !== at) })}
                >
                  <IconX size={16} />
                </ActionIcon>
              )}
            </div>
          ))}
          {editable && values.reminders.length < 5 && (
            <Button
              size="compact-sm"
              variant="subtle"
              style={{ justifySelf: "start" }}
              leftSection={<IconPlus size={14} />}
              onClick={() => set({ reminders: [...values.reminders, 2 * HOUR] })}
            >
              {n.settings.addReminder}
            </Button>
          )}
        </div>
      </Card>
      <Card title={n.settings.mail}>
        <div className="form">
          <TextInput
            label={n.settings.senderName}
            description={n.settings.senderNameNote}
            maxLength={100}
            disabled={!editable}
            {...form.text("senderName")}
          />
          <TextInput
            type="email"
            label={n.settings.replyTo}
            description={n.settings.replyToNote}
            maxLength={254}
            disabled={!editable}
            {...form.text("replyTo")}
          />
        </div>
      </Card>
      <Card title={n.settings.other}>
        <div className="form">
          <NumberInput
            {...number("creditsLowAt")}
            label={n.settings.creditsLow}
            min={0}
            max={1000}
          />
          <Select
            label={n.settings.locale}
            description={n.settings.localeNote}
            clearable
            searchable
            disabled={!editable}
            {...form.choice("locale")}
            data={languages}
          />
        </div>
      </Card>
      <Refused error={error} />
      <SaveBar editing={editing} />
    </form>
  );
}
