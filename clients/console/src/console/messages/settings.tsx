import {
  NotificationService,
  type NotificationSettings,
  NotificationSettingsSchema,
  type QuietHours,
} from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import {
  ActionIcon,
  Box,
  Button,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from "@mantine/core";
import { TimeInput } from "@mantine/dates";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useCan } from "../../shared/auth/user";
import { HOUR, showSpan, spanMs, timeOfDay, wallClock } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { Card, QueryResult } from "../../shared/ui";
import type { Night } from "../settings/kinds";
import { SpanInput } from "../settings/span";
import { Hint, offered, useLanguageNames } from "../ui";
import { EditForm, pick, useSave } from "../ui/edit-form";
import { Columns } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import { messageTexts } from "./texts";

function nightOf(quiet: QuietHours | undefined): Night | null {
  const night = quiet && { start: wallClock(quiet.start), end: wallClock(quiet.end) };
  return night && night.start !== night.end ? night : null;
}

const valuesOf = (settings = create(NotificationSettingsSchema)) => ({
  ...pick(settings, "smsPerDay", "pushPerDay", "emailPerDay"),
  ...pick(settings, "senderName", "replyTo", "creditsLowAt", "locale"),
  quietHours: nightOf(settings.quietHours),
  reminders: settings.reminders.map(spanMs),
  phoneCountries: settings.phoneCountries.join(", "),
});

export function Settings() {
  const settings = useQuery(NotificationService.method.getNotificationSettings, {});
  return (
    <QueryResult query={settings} rows={12}>
      {(answer) => (
        <Box maw={720}>
          <Form settings={answer.settings} />
        </Box>
      )}
    </QueryResult>
  );
}

function Form({ settings }: { settings: NotificationSettings | undefined }) {
  const t = useText(messageTexts, notificationTexts, uiTexts);
  const disabled = !useCan()("notification.write");
  const update = useSave(NotificationService.method.updateNotificationSettings);
  const used = settings?.locale ? [settings.locale] : [];
  const languages = useLanguageNames([...new Set([...offered, ...used])]);
  const names = {
    quietHours: t.messages.settings.quiet,
    smsPerDay: t.notifications.channels[1] ?? "",
    pushPerDay: t.notifications.channels[2] ?? "",
    emailPerDay: t.notifications.channels[3] ?? "",
    reminders: t.messages.settings.reminders,
    senderName: t.messages.settings.senderName,
    replyTo: t.messages.settings.replyTo,
    creditsLowAt: t.messages.settings.creditsLow,
    locale: t.messages.settings.locale,
    phoneCountries: t.messages.settings.countries,
  };
  return (
    <EditForm
      bar
      disabled={disabled}
      entity={settings}
      valuesOf={valuesOf}
      names={names}
      show={(key, value) => {
        if (key === "reminders") return (value as number[]).map(showSpan).join(", ");
        if (typeof value === "boolean") return value ? t.ui.yes : t.ui.no;
        const theirs = value as Night | string | number | null;
        if (theirs === null) return t.messages.settings.none;
        return typeof theirs === "object" ? `${theirs.start}–${theirs.end}` : String(theirs);
      }}
      save={({ quietHours: night, reminders, phoneCountries, ...values }, { updateMask, etag }) =>
        update({
          settings: {
            ...values,
            ...(night && {
              quietHours: { start: timeOfDay(night.start), end: timeOfDay(night.end) },
            }),
            reminders: reminders.map(durationFromMs),
            phoneCountries: phoneCountries.toUpperCase().match(/[^\s,;]+/g) ?? [],
          },
          updateMask,
          etag,
        })
      }
    >
      {({ values, set, ...form }) => {
        const { quietHours: night, reminders } = values;
        const time = (key: keyof Night, label: string) =>
          night && (
            <TimeInput
              label={label}
              disabled={disabled}
              value={night[key]}
              onChange={(event) =>
                set({ quietHours: { ...night, [key]: event.currentTarget.value } })
              }
            />
          );
        return (
          <>
            <Part title={t.messages.settings.quiet} note={t.messages.settings.quietNote}>
              <Switch
                label={t.messages.settings.quietOn}
                disabled={disabled}
                checked={night !== null}
                onChange={() =>
                  set({ quietHours: night ? null : { start: "21:00", end: "08:00" } })
                }
              />
              {night && (
                <Columns>
                  {time("start", t.notifications.from)}
                  {time("end", t.notifications.to)}
                </Columns>
              )}
            </Part>
            <Part title={t.messages.settings.caps} note={t.messages.settings.capsNote}>
              <SimpleGrid minColWidth={140} autoFlow="auto-fit" spacing={12}>
                <NumberInput {...form.count("smsPerDay")} min={1} max={100} />
                <NumberInput {...form.count("pushPerDay")} min={1} max={100} />
                <NumberInput {...form.count("emailPerDay")} min={1} max={100} />
              </SimpleGrid>
            </Part>
            <Part title={t.messages.settings.reminders} note={t.messages.settings.remindersNote}>
              <Reminders
                of={reminders}
                disabled={disabled}
                onChange={(changed) => set({ reminders: changed })}
              />
            </Part>
            <Part title={t.messages.settings.mail}>
              <TextInput
                {...form.text("senderName")}
                description={t.messages.settings.senderNameNote}
                maxLength={100}
              />
              <TextInput
                {...form.text("replyTo")}
                type="email"
                description={t.messages.settings.replyToNote}
                maxLength={254}
              />
            </Part>
            <Part title={t.messages.settings.other}>
              <NumberInput {...form.count("creditsLowAt")} min={0} max={1000} />
              <Select
                {...form.choice("locale")}
                description={t.messages.settings.localeNote}
                clearable
                searchable
                data={languages}
              />
              <TextInput
                {...form.text("phoneCountries")}
                description={t.messages.settings.countriesNote}
                maxLength={200}
              />
            </Part>
          </>
        );
      }}
    </EditForm>
  );
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <Card title={title}>
      <Stack gap={14}>
        {note && <Hint>{note}</Hint>}
        {children}
      </Stack>
    </Card>
  );
}

interface RemindersProps {
  of: readonly number[];
  disabled: boolean;
  onChange: (reminders: number[]) => void;
}

/** How long before a session members are reminded, in milliseconds. */
function Reminders({ of, disabled, onChange }: RemindersProps) {
  const t = useText(messageTexts);
  return (
    <>
      {of.map((ms, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a reminder has no id
        <Group key={at} gap={6} wrap="nowrap">
          <SpanInput
            size="sm"
            label={t.messages.settings.amount}
            value={ms}
            disabled={disabled}
            onChange={(next) => onChange(of.with(at, next))}
          />
          {!disabled && (
            <ActionIcon
              aria-label={`${t.actions.remove}: ${showSpan(ms)}`}
              onClick={() => onChange(of.toSpliced(at, 1))}
            >
              <IconX size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
      {!disabled && of.length < 5 && (
        <Button
          size="compact-sm"
          variant="subtle"
          w="fit-content"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...of, 2 * HOUR])}
        >
          {t.messages.settings.addReminder}
        </Button>
      )}
    </>
  );
}
