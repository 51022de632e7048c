import {
  MemberService,
  type NotificationPreference,
  NotificationService,
  type NotificationPreferences as Preferences,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Checkbox,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
  useMantineColorScheme,
} from "@mantine/core";
import { startTransition, useOptimistic } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan, useMe } from "../../shared/auth/user";
import { timeOfDay, wallClock } from "../../shared/format/time";
import { options } from "../../shared/forms/options";
import { languages, useI18n, useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { isMandatory, Topics } from "../../shared/messages/topics";
import { Card, QueryResult, Time } from "../../shared/ui";
import { DataTable } from "../../shared/ui/data-table";
import { memberTexts } from "../texts";
import { Note } from "../ui";
import classes from "./settings.module.css";

/** The language and the color scheme. */
export function Appearance() {
  const { t, language, setLanguage } = useI18n();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Stack gap={14}>
      <Select
        label={t.theme.language}
        allowDeselect={false}
        value={language}
        onChange={(next) => next && setLanguage(next)}
        data={options(languages)}
      />
      <div>
        <Text fw={540} fz={13} mb={4}>
          {t.theme.title}
        </Text>
        <SegmentedControl
          fullWidth
          aria-label={t.theme.title}
          value={colorScheme}
          onChange={setColorScheme}
          data={options({ light: t.theme.light, dark: t.theme.dark, auto: t.theme.auto })}
        />
      </div>
    </Stack>
  );
}

/** The devices that get push messages. */
export function Devices() {
  const t = useText(memberTexts);
  const { devices, tenant } = useMe();
  const unregister = useCall(MemberService.method.unregisterDevice);
  return (
    <Card title={t.app.devices} bare={devices.length > 0}>
      {devices.length === 0 ? (
        <Note>{t.app.noDevices}</Note>
      ) : (
        <DataTable
          rows={devices}
          columns={[
            { show: ({ kind }) => t.app.deviceKinds[kind] },
            {
              c: "dimmed",
              show: ({ lastSeenTime }) => (
                <Time at={lastSeenTime} zone={tenant.timeZone} as="dateTime" />
              ),
            },
            {
              ta: "right",
              show: ({ id }) => (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  onClick={() => void unregister.run({ deviceId: id })}
                >
                  {t.app.unregister}
                </Button>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

/** A member's notification preferences. Each change is saved immediately. */
export function NotificationPreferences() {
  const t = useText(notificationTexts);
  const query = useQuery(NotificationService.method.getNotificationPreferences, {});
  return (
    <Card title={t.preferences.title}>
      <QueryResult query={query}>
        {({ preferences }) =>
          preferences && (
            <Stack gap={14}>
              <Note>{t.preferences.note}</Note>
              {preferences.stops.map(({ channel, reason }) => (
                <Alert key={channel} color="yellow">
                  {t.preferences.stopped(
                    t.notifications.channels[channel] ?? "",
                    t.notifications.reasons[reason] ?? "",
                  )}
                </Alert>
              ))}
              <TopicTable
                preferences={preferences.preferences}
                reload={() => query.refetch({ cancelRefetch: false })}
              />
              <QuietHours quietHours={preferences.quietHours} />
            </Stack>
          )
        }
      </QueryResult>
    </Card>
  );
}

/** When no messages are sent. */
function QuietHours({ quietHours }: Pick<Preferences, "quietHours">) {
  const t = useText(notificationTexts);
  const update = useCall(NotificationService.method.updateNotificationPreferences);
  const updateMask = { paths: ["quiet_hours"] };
  const [start, end] = [wallClock(quietHours?.start), wallClock(quietHours?.end)];
  const save = (from: string, to: string) =>
    void update.run({
      preferences: { quietHours: { start: timeOfDay(from), end: timeOfDay(to) } },
      updateMask,
    });
  return (
    <>
      <Switch
        label={t.preferences.quiet}
        description={t.preferences.quietNote}
        checked={quietHours !== undefined}
        onChange={(event) =>
          event.currentTarget.checked
            ? save("21:00", "08:00")
            : void update.run({ preferences: {}, updateMask })
        }
      />
      {quietHours && (
        <Group gap={12} wrap="nowrap">
          <TextInput
            key={`from ${start}`}
            type="time"
            label={t.notifications.from}
            defaultValue={start}
            onBlur={({ currentTarget: { value } }) => value && value !== start && save(value, end)}
          />
          <TextInput
            key={`to ${end}`}
            type="time"
            label={t.notifications.to}
            defaultValue={end}
            onBlur={({ currentTarget: { value } }) => value && value !== end && save(start, value)}
          />
        </Group>
      )}
    </>
  );
}

type Choice = Pick<NotificationPreference, "topic" | "channel" | "enabled">;

interface TopicTableProps {
  preferences: readonly NotificationPreference[];
  /** Resolves when the preferences that the server has saved are here. */
  reload: () => Promise<unknown>;
}

/** Chooses the channels of each topic. */
function TopicTable({ preferences, reload }: TopicTableProps) {
  const t = useText(notificationTexts);
  const can = useCan();
  const update = useCall(NotificationService.method.updateNotificationPreferences);
  // A choice shows immediately, until the server has saved or rejected it.
  const [choices, choose] = useOptimistic<readonly Choice[], Choice>(
    preferences,
    (before, choice) => [choice, ...before],
  );
  const save = (choice: Choice) =>
    startTransition(async () => {
      choose(choice);
      await update.run({
        preferences: { preferences: [choice] },
        updateMask: { paths: ["preferences"] },
      });
      await reload();
    });
  return (
    <Topics
      preferences={preferences}
      staff={can("booking.roster")}
      className={classes.topics}
      show={(topic, channel) => (
        <Checkbox
          disabled={isMandatory(topic, channel)}
          aria-label={t.preferences.allow(
            t.notifications.topics[topic] ?? "",
            t.notifications.channels[channel] ?? "",
          )}
          checked={
            choices.find((one) => one.topic === topic && one.channel === channel)?.enabled ?? false
          }
          onChange={({ currentTarget: { checked: enabled } }) => save({ topic, channel, enabled })}
        />
      )}
    />
  );
}
