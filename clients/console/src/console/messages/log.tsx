import { type NotificationDelivery, NotificationService } from "@berthhq/client";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Alert, Button, Drawer } from "@mantine/core";
import { IconChevronRight, IconMessage2 } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useLast } from "../../shared/last";
import { useMe } from "../../shared/me";
import { here, sameClock, zoneName } from "../../shared/time";
import { More, paged, Shown, State, Tag, Time } from "../../shared/ui";
import { polling, toneOf, useFilter, useSessionContexts } from "./data";
import { Filters } from "./filters";

/** Messages that were sent or not sent, with their status and reason. */
export function Log() {
  const n = useNotices();
  const filtering = useFilter();
  const [opened, setOpened] = useState<string>();
  const log = useInfiniteQuery(
    NotificationService.method.listDeliveries,
    { filter: filtering.filter, pageSize: 50, pageToken: "" },
    {
      ...paged,
      placeholderData: (before) => before,
      ...polling,
    },
  );
  const all = log.data?.pages.flatMap(({ deliveries }) => deliveries) ?? [];
  const open = all.find(({ id }) => id === opened);
  const [last] = useLast(open);
  const contextOf = useSessionContexts(all);
  return (
    <>
      <Filters of={filtering} status />
      <div className="card">
        <Shown of={log} rows={12}>
          {() =>
            all.length === 0 ? (
              <State icon={IconMessage2} title={n.log.none}>
                {n.log.noneNote}
              </State>
            ) : (
              <Lines deliveries={all} contextOf={contextOf} onOpen={setOpened} />
            )
          }
        </Shown>
      </div>
      <More of={log} />
      <Drawer
        opened={open !== undefined}
        onClose={() => setOpened(undefined)}
        title={n.log.details}
      >
        {last && <Details delivery={last} {...contextOf(last)} />}
      </Drawer>
    </>
  );
}

type ContextOf = ReturnType<typeof useSessionContexts>;

function Lines({
  deliveries,
  contextOf,
  onOpen,
}: {
  deliveries: readonly NotificationDelivery[];
  contextOf: ContextOf;
  onOpen: (id: string) => void;
}) {
  const t = useText();
  const n = useNotices();
  const { tenant } = useMe();
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{n.log.when}</th>
            <th scope="col">{n.log.to}</th>
            <th scope="col">{n.topic}</th>
            <th scope="col">{n.channel}</th>
            <th scope="col">{t.fields.status}</th>
            <th scope="col" className="right">
              {n.log.segments}
            </th>
            <th scope="col" aria-label={t.actions.more} />
          </tr>
        </thead>
        <tbody>
          {deliveries.map((one) => {
            const { session } = contextOf(one);
            const name = one.recipientName || n.log.guest;
            return (
              <tr key={one.id}>
                <td className="muted" style={{ whiteSpace: "nowrap" }}>
                  <Time at={one.createTime} zone={tenant.timeZone} as="dateTime" />
                  <Zone zone={tenant.timeZone} />
                </td>
                <td>
                  {one.memberId ? <Link to={`/members/${one.memberId}`}>{name}</Link> : name}
                  {one.address && (
                    <div className="muted" style={{ fontSize: 12 }}>
                      {one.address}
                    </div>
                  )}
                </td>
                <td>
                  {n.topics[one.topic]}
                  {session && (
                    <div className="muted" style={{ fontSize: 12 }}>
                      {session.title}
                    </div>
                  )}
                </td>
                <td>{n.channels[one.channel] || "–"}</td>
                <td>
                  <Tag tone={toneOf(one.status)}>{n.statuses[one.status]}</Tag>
                  {(one.reason !== 0 || one.errorCode) && (
                    <div className="muted" style={{ fontSize: 12, marginTop: 3 }}>
                      {[n.reasons[one.reason], one.errorCode].filter(Boolean).join(" · ")}
                    </div>
                  )}
                </td>
                <td className="right num">{one.segments || ""}</td>
                <td className="right">
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="gray"
                    aria-label={`${t.actions.more}: ${name}, ${n.topics[one.topic]}`}
                    onClick={() => onOpen(one.id)}
                  >
                    <IconChevronRight size={16} />
                  </Button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
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
}: { delivery: NotificationDelivery } & ReturnType<ContextOf>) {
  const t = useText();
  const n = useNotices();
  const code = (text: string) => text && <code style={{ fontSize: 12 }}>{text}</code>;
  const name = one.recipientName || n.log.guest;
  const facts: [string, ReactNode][] = [
    [
      n.log.to,
      one.memberId ? (
        <Link key="to" to={`/members/${one.memberId}`}>
          {name}
        </Link>
      ) : (
        name
      ),
    ],
    [n.log.address, one.address],
    [n.topic, n.topics[one.topic]],
    [n.channel, n.channels[one.channel]],
    [
      n.log.session,
      session && (
        <>
          <Link to={`/sessions/${session.id}`}>{session.title}</Link>{" "}
          <Time at={session.startTime} zone={zone} />
        </>
      ),
    ],
    [n.log.why, n.reasons[one.reason]],
    [n.log.error, [one.errorCode, one.errorMessage].filter(Boolean).join(": ")],
    [n.log.segments, one.segments || ""],
    [n.log.attempt, one.attempt || ""],
    [n.log.provider, one.provider === "local" ? n.log.local : one.provider],
    [n.log.providerId, one.provider !== "local" && code(one.providerId)],
    [n.log.when, <Time key="at" at={one.createTime} zone={zone} as="full" />],
    [n.log.changed, one.updateTime && <Time at={one.updateTime} zone={zone} as="full" />],
    [n.log.retry, one.retryTime && <Time at={one.retryTime} zone={zone} as="full" />],
    [t.fields.timeZone, zone],
    [n.log.notice, code(one.noticeId)],
  ];
  return (
    <div style={{ display: "grid", gap: 14, justifyItems: "start" }}>
      <Tag tone={toneOf(one.status)}>{n.statuses[one.status]}</Tag>
      {one.possibleDuplicate && (
        <Alert color="yellow" title={n.log.duplicate}>
          {n.log.duplicateNote}
        </Alert>
      )}
      <dl className="facts">
        {facts.map(
          ([label, value]) =>
            value && (
              <div key={label} style={{ display: "contents" }}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  );
}
