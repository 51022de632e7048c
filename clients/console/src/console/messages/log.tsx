import { type NotificationDelivery, NotificationService } from "@berthhq/client";
import { Alert, Stack } from "@mantine/core";
import { IconMessage2 } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { useI18n } from "../../i18n";
import { useNotices, useNoticeTexts } from "../../i18n/notices";
import { usePages } from "../../shared/api/pages";
import { useMe } from "../../shared/auth/user";
import { here, sameClock, zoneName } from "../../shared/format/time";
import { State, Tag, Time } from "../../shared/ui";
import { routes } from "../routes";
import { Code, dotted, Facts, List, MoreButton, Note, Panel, quiet, TenantTime } from "../ui";
import { Filters, polling, toneOf, useFilter, useSessionContexts } from "./filters";

/** Messages that were sent or not sent, with their status and reason. */
export function Log() {
  const { t, n } = useNoticeTexts();
  const { tenant } = useMe();
  const filtering = useFilter();
  const [opened, setOpened] = useState<string>();
  const log = usePages(
    NotificationService.method.listDeliveries,
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
        empty={<State icon={IconMessage2} title={n.log.none} note={n.log.noneNote} />}
        columns={[
          {
            title: n.log.when,
            ...quiet,
            show: ({ createTime }) => (
              <>
                <TenantTime at={createTime} as="dateTime" />
                <Zone zone={tenant.timeZone} />
              </>
            ),
          },
          {
            title: n.log.to,
            show: (one) => (
              <>
                <Recipient delivery={one} />
                {one.address && <Note>{one.address}</Note>}
              </>
            ),
          },
          {
            title: n.topic,
            show: (one) => {
              const { session } = contextOf(one);
              return (
                <>
                  {n.topics[one.topic]}
                  {session && <Note>{session.title}</Note>}
                </>
              );
            },
          },
          { title: n.channel, show: ({ channel }) => n.channels[channel] || "–" },
          {
            title: t.fields.status,
            show: ({ status, reason, errorCode }) => (
              <>
                <Tag tone={toneOf(status)}>{n.statuses[status]}</Tag>
                {(reason !== 0 || errorCode) && (
                  <Note mt={3}>{dotted(n.reasons[reason], errorCode)}</Note>
                )}
              </>
            ),
          },
          { title: n.log.segments, ta: "right", show: ({ segments }) => segments || "" },
          {
            label: t.actions.more,
            ta: "right",
            show: ({ id, recipientName, topic }) => (
              <MoreButton
                of={`${recipientName || n.log.guest}, ${n.topics[topic]}`}
                onClick={() => setOpened(id)}
              />
            ),
          },
        ]}
      />
      <Panel
        of={all.find(({ id }) => id === opened)}
        title={() => n.log.details}
        onClose={() => setOpened(undefined)}
      >
        {(one) => <Details delivery={one} {...contextOf(one)} />}
      </Panel>
    </>
  );
}

/** The name, with a link to the member. */
function Recipient({ delivery }: { delivery: NotificationDelivery }) {
  const n = useNotices();
  const name = delivery.recipientName || n.log.guest;
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
  const { t, n } = useNoticeTexts();
  const facts: [string, ReactNode][] = [
    [n.log.to, <Recipient key="to" delivery={one} />],
    [n.log.address, one.address],
    [n.topic, n.topics[one.topic]],
    [n.channel, n.channels[one.channel]],
    [
      n.log.session,
      session && (
        <>
          <Link to={routes.session.path({ id: session.id })}>{session.title}</Link>{" "}
          <Time at={session.startTime} zone={zone} />
        </>
      ),
    ],
    [n.log.why, n.reasons[one.reason]],
    [n.log.error, [one.errorCode, one.errorMessage].filter(Boolean).join(": ")],
    [n.log.segments, one.segments || ""],
    [n.log.attempt, one.attempt || ""],
    [n.log.provider, one.provider === "local" ? n.log.local : one.provider],
    [n.log.providerId, one.provider !== "local" && one.providerId && <Code>{one.providerId}</Code>],
    [n.log.when, <Time key="at" at={one.createTime} zone={zone} as="full" />],
    [n.log.changed, one.updateTime && <Time at={one.updateTime} zone={zone} as="full" />],
    [n.log.retry, one.retryTime && <Time at={one.retryTime} zone={zone} as="full" />],
    [t.fields.timeZone, zone],
    [n.log.notice, one.noticeId && <Code>{one.noticeId}</Code>],
  ];
  return (
    <Stack gap={14} align="flex-start">
      <Tag tone={toneOf(one.status)}>{n.statuses[one.status]}</Tag>
      {one.possibleDuplicate && (
        <Alert color="yellow" title={n.log.duplicate}>
          {n.log.duplicateNote}
        </Alert>
      )}
      <Facts of={facts} />
    </Stack>
  );
}
