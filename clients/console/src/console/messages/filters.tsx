import {
  type Member,
  MemberService,
  type NotificationDelivery,
  type NotificationDeliveryFilterSchema,
  NotificationDeliveryStatus,
  NotificationTopic,
  type Session,
  SessionService,
} from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Group } from "@mantine/core";
import { useState } from "react";
import { useAll } from "../../shared/api/lists";
import { useCan, useMe } from "../../shared/auth/user";
import { startOf, today } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import type { Tone } from "../../shared/ui";
import { useCatalogQuery } from "../catalog/data";
import { routes } from "../routes";
import { type Days, DaysFilter, MemberPicker, NumberSelect, timeRangeOf } from "../ui";
import { messageTexts } from "./texts";

/** The topics that tenants do not word. */
const unworded = [
  NotificationTopic.UNSPECIFIED,
  NotificationTopic.CONTACT_CODE,
  NotificationTopic.CONTACT_CHANGED,
  NotificationTopic.SENDING_DOMAIN,
  NotificationTopic.SENDING_QUOTA,
];

/** The topics that tenants word, by number. */
export const worded = Object.values(NotificationTopic).filter(
  (topic): topic is NotificationTopic => typeof topic === "number" && !unworded.includes(topic),
);

export function Filters({ of, status }: { of: Filtering; status?: boolean }) {
  const t = useText(messageTexts, notificationTexts);
  const can = useCan();
  const select = (
    key: "topic" | "channel" | "status",
    label: string,
    names: Readonly<Record<number, string>>,
    any: string,
    w = 150,
  ) => (
    <NumberSelect
      {...{ label, names, any, w }}
      value={of[key]}
      onChange={(value) => of.change({ [key]: value })}
    />
  );
  return (
    <Group gap={8} mb={12}>
      <DaysFilter label={t.messages.log.when} value={of.days} onChange={of.setDays} />
      {can("member.read") && (
        <MemberPicker
          filter
          label={t.messages.anyMember}
          value={of.member}
          onChange={of.setMember}
        />
      )}
      {select("topic", t.notifications.topic, t.notifications.topics, t.messages.anyTopic, 180)}
      {select("channel", t.notifications.channel, t.notifications.channels, t.messages.anyChannel)}
      {status && select("status", t.messages.anyStatus, t.messages.statuses, t.messages.anyStatus)}
    </Group>
  );
}

/** Deliveries change shortly after the event that causes them, without an event of their own. */
export const polling = { refetchInterval: 4_000 };

/** The filter of the list of messages. All of it but the days is in the URL. */
export function useFilter() {
  const { tenant } = useMe();
  const [{ member: memberId, topic, channel, status }, change] = routes.messages.useSearch();
  const [days, setDays] = useState<Days>([null, null]);
  const [picked, setPicked] = useState<Member>();
  // The URL has the member's id only.
  const named = useQuery(
    MemberService.method.getMember,
    { memberId },
    { enabled: memberId !== "" && picked?.id !== memberId },
  );
  const filter: MessageInitShape<typeof NotificationDeliveryFilterSchema> = {
    memberId,
    topic,
    channel,
    statuses: status ? [status] : [],
    createdWithin: timeRangeOf(days, tenant.timeZone),
  };
  return {
    filter,
    topic,
    channel,
    status,
    days,
    change,
    setDays,
    member: picked?.id === memberId ? picked : named.data?.member,
    setMember: (member: Member | undefined) => {
      setPicked(member);
      change({ member: member?.id ?? "" });
    },
  };
}

export type Filtering = ReturnType<typeof useFilter>;

/** A number of days before or after today: the log is read for sessions around now. */
const around = (days: number) => startOf(today("UTC").add({ days }), "UTC");

interface SessionContext {
  readonly session: Session | undefined;
  /** The session's time zone, or the organization's if the message has no session. */
  readonly zone: string;
}

/** The sessions of messages, and their time zones. */
export function useSessionContexts(deliveries: readonly NotificationDelivery[]) {
  const { tenant, can } = useMe();
  const { data: catalog } = useCatalogQuery();
  const ids = new Set(deliveries.map(({ sessionId }) => sessionId).filter(Boolean));
  const sessionIds = [...ids].sort().slice(0, 1000);
  const sessions = useAll(
    SessionService.method.listSessions,
    { filter: { sessionIds, startsWithin: { start: around(-180), end: around(180) } } },
    (answer) => answer.sessions,
    { keep: true, enabled: sessionIds.length > 0 && can("session.read") },
  );
  return ({ sessionId }: NotificationDelivery): SessionContext => {
    const session = sessions.data?.find(({ id }) => id === sessionId);
    const location = session && catalog?.location(session.locationId);
    return { session, zone: location?.timeZone || tenant.timeZone };
  };
}

const { QUEUED, SENT, DELIVERED, READ, DEFERRED, POSSIBLY_SENT } = NotificationDeliveryStatus;
const { FAILED, UNDELIVERED, BOUNCED } = NotificationDeliveryStatus;

export function toneOf(status: NotificationDeliveryStatus): Tone {
  if ([QUEUED, SENT, DELIVERED, READ].includes(status)) return "good";
  if ([DEFERRED, POSSIBLY_SENT].includes(status)) return "warn";
  return [FAILED, UNDELIVERED, BOUNCED].includes(status) ? "bad" : "";
}
