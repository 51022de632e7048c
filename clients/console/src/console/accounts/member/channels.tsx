import { type Device, DeviceKind, type Member, NotificationService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Stack } from "@mantine/core";
import {
  IconBrandAndroid,
  IconBrandApple,
  IconCheck,
  IconDeviceMobileOff,
  IconMinus,
  IconWorld,
} from "@tabler/icons-react";
import { useMe } from "../../../shared/auth/user";
import { wallClock } from "../../../shared/format/time";
import { useText } from "../../../shared/i18n";
import { notificationTexts } from "../../../shared/messages/texts";
import { Topics } from "../../../shared/messages/topics";
import { Card, QueryResult, State } from "../../../shared/ui";
import { CardHint, Dimmed, TenantTime } from "../../ui";
import { uiTexts } from "../../ui/texts";
import classes from "./channels.module.css";
import { memberPageTexts } from "./texts";

const icons = {
  [DeviceKind.UNSPECIFIED]: IconWorld,
  [DeviceKind.IOS]: IconBrandApple,
  [DeviceKind.ANDROID]: IconBrandAndroid,
  [DeviceKind.WEB]: IconWorld,
};

interface MessageChannelsProps {
  member: Member;
  devices: readonly Device[];
}

/** A member's devices and notification preferences. Only the member can change them. */
export function MessageChannels({ member, devices }: MessageChannelsProps) {
  const t = useText(memberPageTexts, notificationTexts, uiTexts);
  const { tenant } = useMe();
  const query = useQuery(NotificationService.method.getNotificationPreferences, {
    memberId: member.id,
  });
  return (
    <Stack gap={18}>
      <Card bare title={t.member.devices}>
        {devices.length === 0 ? (
          <State
            icon={IconDeviceMobileOff}
            title={t.member.noDevices}
            note={t.member.noDevicesNote}
          />
        ) : (
          <ul className={classes.devices}>
            {devices.map(({ id, kind, lastSeenTime, createTime }) => {
              const Icon = icons[kind];
              return (
                <li key={id}>
                  <Icon size={22} stroke={1.4} aria-hidden />
                  <span>
                    <strong>{t.member.deviceKinds[kind]}</strong>
                    <Dimmed display="block" fz="xs">
                      {t.member.seen} <TenantTime at={lastSeenTime} />
                      {" · "}
                      {t.member.since} <TenantTime at={createTime} as="date" />
                    </Dimmed>
                  </span>
                </li>
              );
            })}
          </ul>
        )}
      </Card>
      <Card bare title={t.preferences.title}>
        <QueryResult query={query}>
          {({ preferences: all }) => (
            <>
              <CardHint py={12}>
                {t.member.theirs}{" "}
                {all?.quietHours
                  ? t.member.quiet(
                      wallClock(all.quietHours.start),
                      wallClock(all.quietHours.end),
                      (member.timeZone || tenant.timeZone).replaceAll("_", " "),
                    )
                  : t.member.organizationQuietHours}
              </CardHint>
              {all?.stops.map(({ channel, reason }) => (
                <Alert key={channel} color="yellow" mx="md" mb="sm">
                  {t.preferences.stopped(
                    t.notifications.channels[channel] ?? "",
                    t.notifications.reasons[reason] ?? "",
                  )}
                </Alert>
              ))}
              <Topics
                preferences={all?.preferences ?? []}
                staff={member.roles.some((role) => role !== "member")}
                className={classes.channels}
                show={(topic, channel) => {
                  const one = all?.preferences.find(
                    (each) => each.topic === topic && each.channel === channel,
                  );
                  return (
                    <>
                      {one?.enabled ? (
                        <IconCheck size={17} aria-label={t.ui.yes} />
                      ) : (
                        <IconMinus size={17} aria-label={t.ui.no} color="var(--ink-3)" />
                      )}
                      {one && !one.isDefault && (
                        <Dimmed display="block" fz={11}>
                          {t.member.chosen}
                        </Dimmed>
                      )}
                    </>
                  );
                }}
              />
            </>
          )}
        </QueryResult>
      </Card>
    </Stack>
  );
}
