import {
  type DeliveryFilterSchema,
  DeliveryStatus,
  type Member,
  MemberService,
  type NotificationDelivery,
  type Session,
  SessionService,
} from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { useAddress } from "../../shared/address";
import { useAll } from "../../shared/all";
import { useCan, useMe } from "../../shared/me";
import { startOf, Temporal, today } from "../../shared/time";
import type { Tone } from "../../shared/ui";
import { useCatalog } from "../data";

/** Deliveries change shortly after the event that causes them, without an event of their own. */
export const polling = { refetchInterval: 4_000 };

/** The filter of the list of messages. All of it but the days is in the URL. */
export function useFilter() {
  const { tenant } = useMe();
  const [params, change] = useAddress();
  const [days, setDays] = useState<[string | null, string | null]>([null, null]);
  const [picked, setPicked] = useState<Member>();
  const memberId = params.get("member") ?? "";
  const number = (name: string) => Number(params.get(name)) || 0;
  const set = (name: string, value: string | null) =>
    change({ [name]: value === "0" ? null : value });
  // The URL has the member's id only.
  const named = useQuery(
    MemberService.method.getMember,
    { memberId },
    { enabled: memberId !== "" && picked?.id !== memberId },
  );
  const [topic, channel, status] = [number("topic"), number("channel"), number("status")];
  const [first, last] = days;
  const start = first && startOf(Temporal.PlainDate.from(first), tenant.timeZone);
  const end = last && startOf(Temporal.PlainDate.from(last).add({ days: 1 }), tenant.timeZone);
  const filter: MessageInitShape<typeof DeliveryFilterSchema> = {
    memberId,
    topic,
    channel,
    statuses: status ? [status] : [],
    ...(start && end && { timeRange: { start, end } }),
  };
  return {
    filter,
    topic,
    channel,
    status,
    days,
    set,
    setDays,
    member: picked?.id === memberId ? picked : named.data?.member,
    setMember: (member: Member | undefined) => {
      setPicked(member);
      set("member", member?.id ?? null);
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
  const { tenant } = useMe();
  const can = useCan();
  const { data: catalog } = useCatalog();
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

export function toneOf(status: DeliveryStatus): Tone {
  switch (status) {
    case DeliveryStatus.QUEUED:
    case DeliveryStatus.SENT:
    case DeliveryStatus.DELIVERED:
    case DeliveryStatus.READ:
      return "good";
    case DeliveryStatus.DEFERRED:
    case DeliveryStatus.POSSIBLY_SENT:
      return "warn";
    case DeliveryStatus.FAILED:
    case DeliveryStatus.UNDELIVERED:
    case DeliveryStatus.BOUNCED:
      return "bad";
    default:
      return "";
  }
}
