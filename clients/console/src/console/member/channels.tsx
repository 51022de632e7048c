import "./channels.css";
import {
  type Device,
  DeviceKind,
  type Member,
  NotificationChannel,
  NotificationService,
  NotificationTopic,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert } from "@mantine/core";
import {
  IconBrandAndroid,
  IconBrandApple,
  IconCheck,
  IconDeviceMobileOff,
  IconMinus,
  IconWorld,
} from "@tabler/icons-react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useNotices } from "../../i18n/notices";
import { useMe } from "../../shared/me";
import { wallClock } from "../../shared/time";
import { Card, Shown, State, Time } from "../../shared/ui";

const channels = [
  NotificationChannel.PUSH,
  NotificationChannel.SMS,
  NotificationChannel.EMAIL,
] as const;

const icons = {
  [DeviceKind.UNSPECIFIED]: IconWorld,
  [DeviceKind.IOS]: IconBrandApple,
  [DeviceKind.ANDROID]: IconBrandAndroid,
  [DeviceKind.WEB]: IconWorld,
};

/** A member's devices and notification preferences. Only the member can change them. */
export function MessageChannels({
  member,
  devices,
}: {
  member: Member;
  devices: readonly Device[];
}) {
  const t = useText();
  const d = useDesk();
  const n = useNotices();
  const { tenant } = useMe();
  const query = useQuery(NotificationService.method.getPreferences, { memberId: member.id });
  return (
    <div className="stack">
      <Card bare title={d.member.devices}>
        {devices.length === 0 ? (
          <State icon={IconDeviceMobileOff} title={d.member.noDevices}>
            {d.member.noDevicesNote}
          </State>
        ) : (
          <ul className="devices">
            {devices.map(({ id, kind, lastSeenTime, createTime }) => {
              const Icon = icons[kind];
              return (
                <li key={id}>
                  <Icon size={22} stroke={1.4} aria-hidden />
                  <span>
                    <strong>{d.member.deviceKinds[kind]}</strong>
                    <span className="muted">
                      {d.member.seen} <Time at={lastSeenTime} zone={tenant.timeZone} />
                      {" · "}
                      {d.member.since} <Time at={createTime} zone={tenant.timeZone} as="date" />
                    </span>
                  </span>
                </li>
              );
            })}
          </ul>
        )}
      </Card>
      <Card bare title={n.preferences.title}>
        <Shown of={query}>
          {({ preferences: all }) => (
            <>
              <p className="muted" style={{ margin: 0, padding: "12px 16px", fontSize: 13 }}>
                {d.member.theirs}{" "}
                {all?.quietHours
                  ? d.member.quiet(
                      wallClock(all.quietHours.start),
                      wallClock(all.quietHours.end),
                      (member.timeZone || tenant.timeZone).replaceAll("_", " "),
                    )
                  : d.member.organizationQuietHours}
              </p>
              {all?.stops.map(({ channel, reason }) => (
                <Alert key={channel} color="yellow" mx="md" mb="sm">
                  {n.preferences.stopped(n.channels[channel] ?? "", n.reasons[reason] ?? "")}
                </Alert>
              ))}
              <table className="table channels">
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
                  {[...new Set(all?.preferences.map(({ topic }) => topic))]
                    .filter(
                      (topic) =>
                        topic !== NotificationTopic.STAFF_NOTE ||
                        member.roles.some((role) => role !== "member"),
                    )
                    .map((topic) => (
                      <tr key={topic}>
                        <td>{n.topics[topic]}</td>
                        {channels.map((channel) => {
                          const one = all?.preferences.find(
                            (each) => each.topic === topic && each.channel === channel,
                          );
                          return (
                            <td key={channel}>
                              {one?.enabled ? (
                                <IconCheck size={17} aria-label={t.policies.yes} />
                              ) : (
                                <IconMinus
                                  size={17}
                                  aria-label={t.policies.no}
                                  color="var(--ink-3)"
                                />
                              )}
                              {one && !one.isDefault && (
                                <span className="chosen">{d.member.chosen}</span>
                              )}
                            </td>
                          );
                        })}
                      </tr>
                    ))}
                </tbody>
              </table>
            </>
          )}
        </Shown>
      </Card>
    </div>
  );
}
