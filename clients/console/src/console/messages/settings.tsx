import { NotificationService, type NotificationSettings, type QuietHours } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { ActionIcon, Alert, Button, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { TimeInput } from "@mantine/dates";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useDo } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { useCan } from "../../shared/root";
import { DAY, HOUR, here, MINUTE, parseClock, showClock, showSpan } from "../../shared/time";
import { Card, Shown } from "../../shared/ui";
import { Conflict } from "../conflict";
import { snake } from "../layers";
import { offered, useLanguageNames } from "./templates";

interface Night {
  start: string;
  end: string;
}

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

const clock = (time: QuietHours["start"]) =>
  showClock((time?.hours ?? 0) * 60 + (time?.minutes ?? 0));

const timeOf = (text: string) => {
  const minute = parseClock(text) ?? 0;
  return { hours: Math.floor(minute / 60), minutes: minute % 60 };
};

function nightOf(quiet: QuietHours | undefined): Night | null {
  const night = quiet && { start: clock(quiet.start), end: clock(quiet.end) };
  return night && night.start !== night.end ? night : null;
}

function versionOf(settings: NotificationSettings | undefined) {
  const values: Values = {
    quietHours: nightOf(settings?.quietHours),
    emailInQuietHours: settings?.emailInQuietHours ?? false,
    smsPerDay: settings?.smsPerDay ?? 0,
    pushPerDay: settings?.pushPerDay ?? 0,
    emailPerDay: settings?.emailPerDay ?? 0,
    reminders: settings?.reminders.map(({ seconds }) => Number(seconds) * 1000) ?? [],
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
  const { locale } = useSpeech();
  const can = useCan();
  const transport = useTransport();
  const editable = can("notification.write");
  const [error, setError] = useState<unknown>();
  const update = useDo(NotificationService.method.updateNotificationSettings, {
    quiet: true,
    done: t.done.saved,
  });
  const editing = useEditing<Values>({
    current: versionOf(settings),
    failed: setError,
    reread: async () => {
      const method = NotificationService.method.getNotificationSettings;
      return versionOf((await callUnaryMethod(transport, method, {})).settings);
    },
    save: ({ quietHours, reminders, ...values }, changed, etag) =>
      update.run({
        settings: {
          ...values,
          etag,
          ...(quietHours && {
            quietHours: { start: timeOf(quietHours.start), end: timeOf(quietHours.end) },
          }),
          reminders: reminders.map(durationFromMs),
        },
        updateMask: { paths: changed.map((key) => snake(String(key))) },
      }),
  });
  const { values, set } = editing;
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
            checked={values.emailInQuietHours}
            onChange={(event) => set({ emailInQuietHours: event.currentTarget.checked })}
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
            <Span
              // biome-ignore lint/suspicious/noArrayIndexKey: a reminder has nothing but its span
              key={at}
              ms={ms}
              disabled={!editable}
              onChange={(next) =>
                set({ reminders: values.reminders.map((one, i) => (i === at ? next : one)) })
              }
              onRemove={() => set({ reminders: values.reminders.filter((_, i) => i !== at) })}
            />
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
            value={values.senderName}
            onChange={(event) => set({ senderName: event.currentTarget.value })}
          />
          <TextInput
            type="email"
            label={n.settings.replyTo}
            description={n.settings.replyToNote}
            maxLength={254}
            disabled={!editable}
            value={values.replyTo}
            onChange={(event) => set({ replyTo: event.currentTarget.value })}
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
            value={values.locale || null}
            onChange={(value) => set({ locale: value ?? "" })}
            data={languages}
          />
        </div>
      </Card>
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      {editing.changed.length > 0 && (
        <div className="save-bar">
          <span>{t.policies.pending(editing.changed.length)}</span>
          <Button variant="default" onClick={editing.reset}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={editing.saving}>
            {t.actions.save}
          </Button>
        </div>
      )}
    </form>
  );
}

const units = { minutes: MINUTE, hours: HOUR, days: DAY };
type Unit = keyof typeof units;

function Span({
  ms,
  disabled,
  onChange,
  onRemove,
}: {
  ms: number;
  disabled: boolean;
  onChange: (ms: number) => void;
  onRemove: () => void;
}) {
  const t = useText();
  const n = useNotices();
  const [unit, setUnit] = useState<Unit>(
    () => (["days", "hours"] as const).find((one) => ms % units[one] === 0) ?? "minutes",
  );
  return (
    <div style={{ display: "flex", gap: 6, alignItems: "center" }}>
      <NumberInput
        w={100}
        aria-label={n.settings.amount}
        disabled={disabled}
        value={Math.round((ms / units[unit]) * 100) / 100}
        onChange={(next) => onChange(Math.round(Number(next) * units[unit]))}
      />
      <Select
        w={130}
        aria-label={n.settings.unit}
        allowDeselect={false}
        disabled={disabled}
        value={unit}
        onChange={(next) => setUnit(next as Unit)}
        data={Object.entries(n.settings.units).map(([value, label]) => ({ value, label }))}
      />
      {!disabled && (
        <ActionIcon aria-label={`${t.actions.remove}: ${showSpan(ms)}`} onClick={onRemove}>
          <IconX size={16} />
        </ActionIcon>
      )}
    </div>
  );
}
