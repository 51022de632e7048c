import { NotificationChannel, NotificationService, NotificationTopic } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Checkbox, Switch, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { useNotices } from "../i18n/notices";
import { useCall } from "../shared/calls";
import { useCan } from "../shared/me";
import { timeOfDay, wallClock } from "../shared/time";
import { Card, Shown } from "../shared/ui";

const channels = [
  NotificationChannel.PUSH,
  NotificationChannel.SMS,
  NotificationChannel.EMAIL,
] as const;

/** A member's notification preferences. Each change is saved at once. */
export function Notices() {
  const n = useNotices();
  const can = useCan();
  const query = useQuery(NotificationService.method.getPreferences, {});
  const update = useCall(NotificationService.method.updatePreferences);
  // Choices that the server has not confirmed yet.
  const [pending, setPending] = useState<Readonly<Record<string, boolean>>>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new answer settles them
  useEffect(() => setPending({}), [query.data]);
  const choose = async (
    topic: NotificationTopic,
    channel: NotificationChannel,
    enabled: boolean,
  ) => {
    setPending((before) => ({ ...before, [`${topic} ${channel}`]: enabled }));
    const kept = await update.run({
      preferences: { preferences: [{ topic, channel, enabled }] },
      updateMask: { paths: ["preferences"] },
    });
    if (!kept) setPending({});
  };
  return (
    <Card title={n.preferences.title}>
      <Shown of={query}>
        {({ preferences: all }) => {
          const topics = [...new Set(all?.preferences.map(({ topic }) => topic))].filter(
            (topic) => topic !== NotificationTopic.STAFF_NOTE || can("booking.roster"),
          );
          const quiet = all?.quietHours;
          const [start, end] = [wallClock(quiet?.start), wallClock(quiet?.end)];
          const keepQuiet = (from: string, to: string) =>
            void update.run({
              preferences: { quietHours: { start: timeOfDay(from), end: timeOfDay(to) } },
              updateMask: { paths: ["quiet_hours"] },
            });
          return (
            <div className="form">
              <p className="muted" style={{ margin: 0 }}>
                {n.preferences.note}
              </p>
              {all?.stops.map(({ channel, reason }) => (
                <Alert key={channel} color="yellow">
                  {n.preferences.stopped(n.channels[channel] ?? "", n.reasons[reason] ?? "")}
                </Alert>
              ))}
              <table className="table notices">
                <thead>
                  <tr>
                    <th scope="col">{n.topic}</th>
                    {channels.map((channel) => (
                      <th scope="col" key={channel}>
                        {n.channels[channel]}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {topics.map((topic) => (
                    <tr key={topic}>
                      <td>{n.topics[topic]}</td>
                      {channels.map((channel) => (
                        <td key={channel}>
                          <Checkbox
                            aria-label={n.preferences.allow(
                              n.topics[topic] ?? "",
                              n.channels[channel] ?? "",
                            )}
                            checked={
                              pending[`${topic} ${channel}`] ??
                              all?.preferences.find(
                                (one) => one.topic === topic && one.channel === channel,
                              )?.enabled ??
                              false
                            }
                            onChange={(event) =>
                              void choose(topic, channel, event.currentTarget.checked)
                            }
                          />
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
              <Switch
                label={n.preferences.quiet}
                description={n.preferences.quietNote}
                checked={quiet !== undefined}
                onChange={(event) =>
                  event.currentTarget.checked
                    ? keepQuiet("21:00", "08:00")
                    : void update.run({ preferences: {}, updateMask: { paths: ["quiet_hours"] } })
                }
              />
              {quiet && (
                <div style={{ display: "flex", gap: 12 }}>
                  <TextInput
                    key={`from ${start}`}
                    type="time"
                    label={n.settings.from}
                    defaultValue={start}
                    onBlur={({ currentTarget: { value } }) =>
                      value && value !== start && keepQuiet(value, end)
                    }
                  />
                  <TextInput
                    key={`to ${end}`}
                    type="time"
                    label={n.settings.to}
                    defaultValue={end}
                    onBlur={({ currentTarget: { value } }) =>
                      value && value !== end && keepQuiet(start, value)
                    }
                  />
                </div>
              )}
            </div>
          );
        }}
      </Shown>
    </Card>
  );
}
