import {
  type Booking,
  BookingItemStatus,
  BookingService,
  BookingStatus,
  SessionService,
  TenantService,
  type WaitlistEntry,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Modal } from "@mantine/core";
import { IconQrcode } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../i18n";
import { useDecisionTexts } from "../i18n/decisions";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { memberReason } from "../shared/decisions";
import { DAY, HOUR, millis, showClock, showDay, Temporal, zoneName } from "../shared/time";
import { Shown, State, Tag, Time } from "../shared/ui";
import { useCancelBooking, useLeaveWaitlist } from "./cancel";
import { Heading } from "./heading";
import { Confirm } from "./held";
import { Offered, useEntries } from "./offered";
import { Why } from "./why";

export function BookingsPage() {
  const t = useText();
  const m = useMemberTexts();
  const upcoming = useQuery(
    BookingService.method.listMyBookings,
    { pageSize: 100 },
    { refetchInterval: 60_000 },
  );
  const waiting = useEntries();
  const entries = waiting.data?.entries ?? [];
  const offers = entries.flatMap(({ liveOffer }) => liveOffer ?? []);
  const past = useMemo(() => {
    const now = Math.floor(Date.now() / HOUR) * HOUR; // Rounded to the hour, so that the query key is stable.
    return { start: timestampFromMs(now - 60 * DAY), end: timestampFromMs(now) };
  }, []);
  const before = useQuery(BookingService.method.listMyBookings, {
    startsWithin: past,
    pageSize: 100,
  });
  const live = (booking: Booking) =>
    booking.status === BookingStatus.CONFIRMED || booking.status === BookingStatus.ATTENDED;
  return (
    <>
      <Heading>{t.app.myBookings}</Heading>
      <Shown of={upcoming}>
        {({ bookings }) => {
          const mine = bookings.filter(live);
          const held = bookings.filter(({ status }) => status === BookingStatus.PENDING);
          return mine.length + held.length + entries.length === 0 ? (
            <div className="card">
              <State
                title={t.app.noBookings}
                action={
                  <>
                    <Button component={Link} to="/">
                      {t.app.toWeek}
                    </Button>
                    <Button component={Link} to="/wait" variant="subtle">
                      {m.timeWindow.title}
                    </Button>
                  </>
                }
              >
                {t.app.noBookingsNote}
              </State>
            </div>
          ) : (
            <>
              {offers.map((offer) => (
                <Offered key={offer.id} offer={offer} />
              ))}
              {held.map((hold) => (
                <Held key={hold.id} hold={hold} />
              ))}
              {entries.length > offers.length && <h2>{t.app.waiting}</h2>}
              {entries
                .filter(({ liveOffer }) => !liveOffer)
                .map((entry) => (
                  <Waiting key={entry.id} entry={entry} />
                ))}
              {mine.length > 0 && <h2>{t.app.upcoming}</h2>}
              {mine.map((booking) => (
                <Ticket key={booking.id} booking={booking} />
              ))}
            </>
          );
        }}
      </Shown>
      {before.data && before.data.bookings.length > 0 && (
        <>
          <h2>{t.app.past}</h2>
          <div className="card">
            <table className="table">
              <tbody>
                {[...before.data.bookings].reverse().map((booking) => (
                  <tr key={booking.id}>
                    <td className="muted">
                      <Time at={booking.sessionStartTime} zone={booking.timeZone} />
                    </td>
                    <td>{booking.sessionTitle}</td>
                    <td className="right">
                      <Tag
                        tone={
                          booking.status === BookingStatus.ATTENDED
                            ? "good"
                            : booking.status === BookingStatus.NO_SHOW
                              ? "bad"
                              : ""
                        }
                      >
                        {t.bookingStatus[booking.status]}
                      </Tag>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}

function Ticket({ booking }: { booking: Booking }) {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useI18n();
  const cancelBooking = useCancelBooking();
  const here = booking.status === BookingStatus.ATTENDED;
  const soon = millis(booking.sessionStartTime) - Date.now() < 24 * HOUR;
  const free = millis(booking.cancellableUntil) > Date.now();
  return (
    <article className="card ticket" aria-label={booking.sessionTitle}>
      <div>
        <div className="when">
          <Time at={booking.sessionStartTime} zone={booking.timeZone} as="longDay" />,{" "}
          <Time at={booking.sessionStartTime} zone={booking.timeZone} as="time" />–
          <Time at={booking.sessionEndTime} zone={booking.timeZone} as="time" />{" "}
          <span className="muted">{zoneName(booking.timeZone, locale)}</span>
        </div>
        <div className="what">
          {booking.sessionTitle}
          {booking.partySize > 1 && <span className="muted"> × {booking.partySize}</span>}
        </div>
        {free && !here && booking.cancellableUntil && (
          <div className="muted" style={{ fontSize: 13 }}>
            {t.app.freeUntil("")} <Time at={booking.cancellableUntil} zone={booking.timeZone} />
          </div>
        )}
        {booking.items.some(({ status }) => status === BookingItemStatus.CONFIRMED) && (
          <div className="muted" style={{ fontSize: 13 }}>
            {booking.items
              .filter(({ status }) => status === BookingItemStatus.CONFIRMED)
              .map(({ name, quantity }) => m.hold.keep(name, quantity))
              .join(", ")}
          </div>
        )}
      </div>
      <div className="actions">
        {here ? (
          <Tag tone="good">{t.app.checkedIn}</Tag>
        ) : (
          <>
            {soon && (
              <Button
                component={Link}
                to={`/checkin/${booking.sessionId}`}
                leftSection={<IconQrcode size={18} />}
              >
                {t.app.checkIn}
              </Button>
            )}
            <Button
              component={Link}
              to={`/move/${booking.id}`}
              variant="default"
              aria-label={`${m.reschedule.action}: ${booking.sessionTitle}`}
            >
              {m.reschedule.action}
            </Button>
            <Button
              variant="default"
              onClick={() => void cancelBooking(booking.id)}
              aria-label={`${t.app.cancel}: ${booking.sessionTitle}`}
            >
              {t.app.cancel}
            </Button>
          </>
        )}
      </div>
    </article>
  );
}

/** A held seat, until it is confirmed or expires. */
function Held({ hold }: { hold: Booking }) {
  const m = useMemberTexts();
  const [over, setOver] = useState(false);
  if (over) return null;
  return (
    <article className="card ticket offered" aria-label={`${m.hold.held}: ${hold.sessionTitle}`}>
      <div>
        <div className="when">
          <Time at={hold.sessionStartTime} zone={hold.timeZone} as="longDay" />,{" "}
          <Time at={hold.sessionStartTime} zone={hold.timeZone} as="time" />
        </div>
        <div className="what">{hold.sessionTitle}</div>
      </div>
      <Confirm hold={hold} onDone={() => setOver(true)} />
    </article>
  );
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Describes a time window: "Mon, 16 Mar to Fri, 20 Mar, 08:00 to 10:00". */
function useWindowText({ window, sessionIds, coachId }: WaitlistEntry): string {
  const m = useMemberTexts();
  const { locale } = useI18n();
  const locations = useAll(TenantService.method.listLocations, {}, (answer) => answer.locations, {
    staleTime: 60_000,
    enabled: Boolean(window),
  });
  const location = locations.data?.find(({ id }) => id === window?.locationId);
  const [soon] = useState(() => {
    const now = Math.floor(Date.now() / HOUR) * HOUR;
    return { start: timestampFromMs(now), end: timestampFromMs(now + 28 * DAY) };
  });
  const coachSessions = useQuery(
    SessionService.method.listSessions,
    { filter: { coachIds: [coachId], startsWithin: soon }, pageSize: 1 },
    { enabled: coachId !== "", staleTime: 60_000 },
  );
  if (!window) return m.timeWindow.anyOf(sessionIds.length);
  const day = (date: Day | undefined) =>
    date ? showDay(new Temporal.PlainDate(date.year, date.month, date.day), locale, "day") : "";
  const clock = (time: { hours: number; minutes: number } | undefined, absent: string) =>
    time ? showClock(time.hours * 60 + time.minutes) : absent;
  const { firstDate, lastDate, earliestStart, latestStart } = window;
  const allDay =
    clock(earliestStart, "00:00") === "00:00" && /^23:59/.test(clock(latestStart, "23:59"));
  const coach = coachSessions.data?.sessions[0]?.coachName;
  return [
    m.timeWindow.days(day(firstDate), day(lastDate ?? firstDate)),
    allDay
      ? m.timeWindow.anyTime
      : m.timeWindow.times(clock(earliestStart, "00:00"), clock(latestStart, "23:59")),
    coach && m.with(coach),
    location?.name,
  ]
    .filter(Boolean)
    .join(", ");
}

function Waiting({ entry }: { entry: WaitlistEntry }) {
  const t = useText();
  const texts = useDecisionTexts();
  const leave = useLeaveWaitlist();
  const windowText = useWindowText(entry);
  const [explaining, setExplaining] = useState(false);
  return (
    <article className="card ticket" aria-label={entry.sessionTitle}>
      <div>
        <div className="when">
          {entry.sessionId ? (
            <>
              <Time at={entry.sessionStartTime} zone={entry.timeZone} as="longDay" />,{" "}
              <Time at={entry.sessionStartTime} zone={entry.timeZone} as="time" />
            </>
          ) : (
            windowText
          )}
        </div>
        <div className="what">
          {entry.sessionTitle}
          {entry.partySize > 1 && <span className="muted"> × {entry.partySize}</span>}
        </div>
        <div style={{ marginTop: 6 }}>
          <Tag tone="warn">{t.app.waitlisted(entry.position)}</Tag>
        </div>
        {entry.passedOverReason && (
          <div className="muted" style={{ marginTop: 6, fontSize: 13 }}>
            {t.session.skipped(memberReason(entry.passedOverReason, texts))}
          </div>
        )}
      </div>
      <div className="actions">
        <Button variant="default" onClick={() => void leave(entry.id, entry.sessionTitle)}>
          {t.app.leave}
        </Button>
        <Button
          variant="subtle"
          onClick={() => setExplaining(true)}
          aria-label={`${texts.you.ask} ${entry.sessionTitle}`}
        >
          {texts.you.ask}
        </Button>
      </div>
      <Modal opened={explaining} onClose={() => setExplaining(false)} title={texts.you.title}>
        <Why entryId={entry.id} />
      </Modal>
    </article>
  );
}
