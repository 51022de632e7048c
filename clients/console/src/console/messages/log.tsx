import { type NotificationDelivery, NotificationService } from "@berthhq/client";
import { Alert, Stack } from "@mantine/core";
import { IconMessage2 } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { usePages } from "../../shared/api/pages";
import { useMe } from "../../shared/auth/user";
import { here, sameClock, zoneName } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { State, Tag, Time } from "../../shared/ui";
import { routes } from "../routes";
import { Code, dotted, Facts, List, MoreButton, Note, Panel, quiet, TenantTime } from "../ui";
import { Filters, polling, toneOf, useFilter, useSessionContexts } from "./filters";
import { messageTexts } from "./texts";

/** Texts that were sent or not sent, with their status and reason. */
export function Log() {
  const t = useText(messageTexts, notificationTexts);
  const { tenant } = useMe();
  const filtering = useFilter();
  const [opened, setOpened] = useState<string>();
  const log = usePages(
    NotificationService.method.listNotificationDeliveries,
    { filter: filtering.filter, pageSize: 50 },
    ({ deliveries }) => deliveries,
    { keep: true, ...polling },
  );
  const all = log.data ?? [];
  const contextOf = useSessionContexts(all);
  return (
    <>
      <Filters of={filtering} status />
      <List
        query={log}
        skeleton={12}
        empty={
          <State icon={IconMessage2} title={t.messages.log.none} note={t.messages.log.noneNote} />
        }
        columns={[
          {
            title: t.messages.log.when,
            ...quiet,
            show: ({ createTime }) => (
              <>
                <TenantTime at={createTime} as="dateTime" />
                <Zone zone={tenant.timeZone} />
              </>
            ),
          },
          {
            title: t.messages.log.to,
            show: (one) => (
              <>
                <Recipient delivery={one} />
                {one.address && <Note>{one.address}</Note>}
              </>
            ),
          },
          {
            title: t.notifications.topic,
            show: (one) => {
              const { session } = contextOf(one);
              return (
                <>
                  {t.notifications.topics[one.topic]}
                  {session && <Note>{session.title}</Note>}
                </>
              );
            },
          },
          {
            title: t.notifications.channel,
            show: ({ channel }) => t.notifications.channels[channel] || "–",
          },
          {
            title: t.fields.status,
            show: ({ status, reason, errorCode }) => (
              <>
                <Tag tone={toneOf(status)}>{t.messages.statuses[status]}</Tag>
                {(reason !== 0 || errorCode) && (
                  <Note mt={3}>{dotted(t.notifications.reasons[reason], errorCode)}</Note>
                )}
              </>
            ),
          },
          { title: t.messages.log.segments, ta: "right", show: ({ segments }) => segments ?? "" },
          {
            label: t.actions.more,
            ta: "right",
            show: ({ id, recipientName, topic }) => (
              <MoreButton
                of={`${recipientName || t.messages.log.guest}, ${t.notifications.topics[topic]}`}
                onClick={() => setOpened(id)}
              />
            ),
          },
        ]}
      />
      <Panel
        of={all.find(({ id }) => id === opened)}
        title={() => t.messages.log.details}
        onClose={() => setOpened(undefined)}
      >
        {(one) => <Details delivery={one} {...contextOf(one)} />}
      </Panel>
    </>
  );
}

/** The name, with a link to the member. */
function Recipient({ delivery }: { delivery: NotificationDelivery }) {
  const t = useText(messageTexts);
  const name = delivery.recipientName || t.messages.log.guest;
  if (!delivery.memberId) return name;
  return <Link to={routes.member.path({ id: delivery.memberId })}>{name}</Link>;
}

/** Shows the time zone if it differs from the browser's. */
export function Zone({ zone }: { zone: string }) {
  const { locale } = useI18n();
  if (sameClock(zone, here())) return null;
  return <span title={zone}> {zoneName(zone, locale)}</span>;
}

function Details({
  delivery: one,
  session,
  zone,
}: { delivery: NotificationDelivery } & ReturnType<ReturnType<typeof useSessionContexts>>) {
  const t = useText(messageTexts, notificationTexts);
  const facts: [string, ReactNode][] = [
    [t.messages.log.to, <Recipient key="to" delivery={one} />],
    [t.messages.log.address, one.address],
    [t.notifications.topic, t.notifications.topics[one.topic]],
    [t.notifications.channel, t.notifications.channels[one.channel]],
    [
      t.messages.log.session,
      session && (
        <>
          <Link to={routes.session.path({ id: session.id })}>{session.title}</Link>{" "}
          <Time at={session.startTime} zone={zone} />
        </>
      ),
    ],
    [t.messages.log.why, t.notifications.reasons[one.reason]],
    [t.messages.log.error, [one.errorCode, one.errorMessage].filter(Boolean).join(": ")],
    [t.messages.log.segments, one.segments ?? ""],
    [t.messages.log.attempt, one.attempt ?? ""],
    [t.messages.log.provider, one.provider === "local" ? t.messages.log.local : one.provider],
    [
      t.messages.log.providerId,
      one.provider !== "local" && one.providerId && <Code>{one.providerId}</Code>,
    ],
    [t.messages.log.when, <Time key="at" at={one.createTime} zone={zone} as="full" />],
    [t.messages.log.changed, one.updateTime && <Time at={one.updateTime} zone={zone} as="full" />],
    [t.messages.log.retry, one.retryTime && <Time at={one.retryTime} zone={zone} as="full" />],
    [t.fields.timeZone, zone],
    [t.messages.log.notice, one.noticeId && <Code>{one.noticeId}</Code>],
  ];
  return (
    <Stack gap={14} align="flex-start">
      <Tag tone={toneOf(one.status)}>{t.messages.statuses[one.status]}</Tag>
      {one.possibleDuplicate && (
        <Alert color="yellow" title={t.messages.log.duplicate}>
          {t.messages.log.duplicateNote}
        </Alert>
      )}
      <Facts of={facts} />
    </Stack>
  );
}
