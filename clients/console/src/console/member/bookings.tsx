import {
  BookingService,
  BookingStatus,
  type Member,
  type WaitlistEntry,
  WaitlistEntryStatus,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { ActionIcon, Button } from "@mantine/core";
import { IconHourglass, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { Countdown } from "../../shared/countdown";
import { useCan } from "../../shared/me";
import { showClock, showDay, Temporal } from "../../shared/time";
import { Card, Shown, State, Tag, Time } from "../../shared/ui";
import { BookingActions } from "../bookings/actions";
import { type Held, HoldDrawer } from "../bookings/hold";
import { BookingTag } from "../bookings/tag";
import { TimeWindowModal } from "../bookings/time-window";
import { useCatalog } from "../data";
import { useSessionOf } from "./session-of";

const current = [BookingStatus.PENDING, BookingStatus.CONFIRMED, BookingStatus.ATTENDED];

/** A member's upcoming bookings and waitlist entries. */
export function Bookings({ member }: { member: Member }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const catalog = useCatalog();
  const sessionOf = useSessionOf();
  const [held, setHeld] = useState<Held>();
  const bookings = useAll(
    BookingService.method.listMyBookings,
    { memberId: member.id, statuses: current },
    (answer) => answer.bookings,
    { refetchInterval: 60_000 },
  );
  return (
    <div className="stack">
      <Card bare title={d.member.coming}>
        <Shown of={bookings} rows={4}>
          {(all) =>
            all.length === 0 ? (
              <State title={d.member.nothing}>{d.member.nothingNote}</State>
            ) : (
              <div className="scroll-x">
                <table className="table">
                  <caption className="sr">{d.member.coming}</caption>
                  <tbody>
                    {all.map((booking) => (
                      <tr key={booking.id}>
                        <td className="muted" style={{ width: 170, whiteSpace: "nowrap" }}>
                          <Time at={booking.sessionStartTime} zone={booking.timeZone} />
                        </td>
                        <td>
                          <Link className="plain-link" to={`/sessions/${booking.sessionId}`}>
                            {booking.sessionTitle}
                          </Link>
                          {(booking.partySize > 1 || booking.promoted) && (
                            <div className="muted" style={{ fontSize: 12 }}>
                              {[
                                booking.partySize > 1 && `× ${booking.partySize}`,
                                booking.promoted && t.session.promoted,
                              ]
                                .filter(Boolean)
                                .join(" · ")}
                            </div>
                          )}
                        </td>
                        <td className="right" style={{ whiteSpace: "nowrap" }}>
                          {booking.status === BookingStatus.PENDING && (
                            <span style={{ marginRight: 8 }}>
                              <Countdown until={booking.holdExpireTime} />
                            </span>
                          )}
                          <BookingTag booking={booking} />
                        </td>
                        <td className="right" style={{ width: 1, whiteSpace: "nowrap" }}>
                          <BookingActions
                            booking={booking}
                            onConfirm={async (one) => {
                              const session = await sessionOf(one.sessionId);
                              if (session) setHeld({ kind: "held", booking: one, session });
                            }}
                          />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Shown>
      </Card>
      {can("waitlist.read") && <Waits member={member} />}
      {catalog.data && <HoldDrawer held={held} catalog={catalog.data} onChange={setHeld} />}
    </div>
  );
}

function Waits({ member }: { member: Member }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [wishing, setWishing] = useState(false);
  const entries = useQuery(
    WaitlistService.method.listEntries,
    { filter: { memberId: member.id }, pageSize: 200 },
    { refetchInterval: 60_000 },
  );
  return (
    <Card
      bare
      title={d.member.waits}
      extra={
        can("waitlist.manage") && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconHourglass size={14} />}
            onClick={() => setWishing(true)}
          >
            {d.timeWindow.open}
          </Button>
        )
      }
    >
      <Shown of={entries} rows={2}>
        {({ entries: all }) =>
          all.length === 0 ? (
            <p className="muted" style={{ margin: 0, padding: "14px 16px", fontSize: 13 }}>
              {d.member.waitsForNothing}
            </p>
          ) : (
            <table className="table">
              <caption className="sr">{t.session.waitlist}</caption>
              <tbody>
                {all.map((entry) => (
                  <Wait key={entry.id} entry={entry} />
                ))}
              </tbody>
            </table>
          )
        }
      </Shown>
      <TimeWindowModal member={member} opened={wishing} onClose={() => setWishing(false)} />
    </Card>
  );
}

function Wait({ entry }: { entry: WaitlistEntry }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const remove = useCall(WaitlistService.method.removeEntry);
  return (
    <tr>
      <td>
        <Wished entry={entry} />
        <div className="muted" style={{ fontSize: 12 }}>
          {[
            entry.partySize > 1 && `× ${entry.partySize}`,
            entry.flagged && t.offers.flagged,
            entry.passedOverReason &&
              t.session.skipped(t.reasons[entry.passedOverReason]?.({}) ?? entry.passedOverReason),
          ]
            .filter(Boolean)
            .join(" · ")}
        </div>
      </td>
      <td className="right" style={{ whiteSpace: "nowrap" }}>
        {entry.status === WaitlistEntryStatus.OFFERED && entry.liveOffer ? (
          <>
            <Tag tone="accent">{t.offers.live}</Tag>{" "}
            <Countdown until={entry.liveOffer.expireTime} />
          </>
        ) : (
          entry.position > 0 && <Tag>{t.session.position(entry.position)}</Tag>
        )}
      </td>
      <td className="right" style={{ width: 1 }}>
        {can("waitlist.manage") && (
          <ActionIcon
            aria-label={t.session.removeEntry}
            onClick={async () => {
              const answer = await ask({
                title: t.session.removeTitle(entry.memberName),
                body: entry.window ? d.timeWindow.window : entry.sessionTitle,
                yes: t.session.removeEntry,
                reason: t.fields.reason,
                danger: true,
              });
              if (answer) await remove.run({ entryId: entry.id, reason: answer.reason });
            }}
          >
            <IconX size={16} />
          </ActionIcon>
        )}
      </td>
    </tr>
  );
}

/** What a waitlist entry is for: a session, one of several, or a time window. */
function Wished({ entry }: { entry: WaitlistEntry }) {
  const d = useDesk();
  const { locale } = useI18n();
  const { data } = useCatalog();
  const { window: span } = entry;
  if (!span) {
    return (
      <>
        <Link className="plain-link" to={`/sessions/${entry.sessionId || entry.sessionIds[0]}`}>
          {entry.sessionTitle}
        </Link>{" "}
        <span className="muted">
          <Time at={entry.sessionStartTime} zone={entry.timeZone} />
          {entry.sessionIds.length > 1 && ` ${d.timeWindow.orOthers(entry.sessionIds.length - 1)}`}
        </span>
      </>
    );
  }
  const dayOf = ({ year, month, day }: { year: number; month: number; day: number }) =>
    showDay(Temporal.PlainDate.from({ year, month, day }), locale, "day");
  const clockOf = (time: { hours: number; minutes: number } | undefined, none: number) =>
    showClock(time ? time.hours * 60 + time.minutes : none);
  const days = [span.firstDate, span.lastDate].filter((day) => day !== undefined).map(dayOf);
  const where = [
    data?.location(span.locationId)?.name,
    data?.resource(span.resourceId)?.name,
    data?.coach(entry.coachId)?.name,
  ].filter(Boolean);
  return (
    <>
      <strong style={{ fontWeight: 560 }}>{data?.service(span.serviceId)?.name}</strong>{" "}
      <Tag tone="plain">{d.timeWindow.window}</Tag>
      <div className="muted" style={{ fontSize: 12 }}>
        {[...new Set(days)].join(" – ")}
        {(span.earliestStart || span.latestStart) &&
          `, ${clockOf(span.earliestStart, 0)}–${clockOf(span.latestStart, 24 * 60 - 1)}`}
        {" · "}
        {where.join(" · ")}
      </div>
    </>
  );
}
