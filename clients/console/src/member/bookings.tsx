import {
  type Booking,
  BookingService,
  BookingStatus,
  type Offer,
  type WaitlistEntry,
  WaitlistService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { IconQrcode } from "@tabler/icons-react";
import { useMemo } from "react";
import { Link } from "react-router";
import { useSpeech, useText } from "../i18n";
import { useDo } from "../shared/calls";
import { Countdown } from "../shared/countdown";
import { DAY, HOUR, millis, zoneName } from "../shared/time";
import { Shown, State, Tag, Time } from "../shared/ui";
import { useGiveUp, useLeave } from "./giveup";

export function BookingsPage() {
  const t = useText();
  const upcoming = useQuery(
    BookingService.method.listMyBookings,
    { pageSize: 100 },
    { refetchInterval: 60_000 },
  );
  const waiting = useQuery(
    WaitlistService.method.listMyEntries,
    { pageSize: 100 },
    { refetchInterval: 60_000 },
  );
  const entries = waiting.data?.entries ?? [];
  const offers = entries.flatMap(({ liveOffer }) => liveOffer ?? []);
  const past = useMemo(() => {
    const now = Math.floor(Date.now() / HOUR) * HOUR; // the same question for an hour
    return { start: timestampFromMs(now - 60 * DAY), end: timestampFromMs(now) };
  }, []);
  const before = useQuery(BookingService.method.listMyBookings, {
    startsWithin: past,
    pageSize: 100,
  });
  const live = (booking: Booking) =>
    booking.status === BookingStatus.CONFIRMED ||
    booking.status === BookingStatus.PENDING ||
    booking.status === BookingStatus.ATTENDED;
  return (
    <>
      <h1>{t.app.mine}</h1>
      <Shown of={upcoming}>
        {({ bookings }) => {
          const mine = bookings.filter(live);
          return mine.length + entries.length === 0 ? (
            <div className="card">
              <State
                title={t.app.noBookings}
                action={
                  <Button component={Link} to="/">
                    {t.app.toWeek}
                  </Button>
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
  const { locale } = useSpeech();
  const giveUp = useGiveUp();
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
      </div>
      <div className="acts">
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
              variant="default"
              onClick={() => void giveUp(booking.id)}
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

/** A place that waits for an answer. */
function Offered({ offer }: { offer: Offer }) {
  const t = useText();
  const accept = useDo(WaitlistService.method.acceptOffer, {
    done: t.app.bookedNow(offer.sessionTitle),
  });
  const decline = useDo(WaitlistService.method.declineOffer);
  return (
    <article
      className="card ticket offered"
      aria-label={`${t.offers.yours}: ${offer.sessionTitle}`}
    >
      <div>
        <div className="when">
          {t.offers.yours} · <Countdown until={offer.expireTime} />
        </div>
        <div className="what">{offer.sessionTitle}</div>
        <div className="muted">
          <Time at={offer.sessionStartTime} zone={offer.timeZone} />
          {offer.firstToClaim && ` · ${t.offers.first}`}
        </div>
      </div>
      <div className="acts">
        <Button loading={accept.busy} onClick={() => void accept.run({ offerId: offer.id })}>
          {t.offers.accept}
        </Button>
        <Button
          variant="default"
          loading={decline.busy}
          onClick={() => void decline.run({ offerId: offer.id })}
        >
          {t.offers.decline}
        </Button>
      </div>
    </article>
  );
}

function Waiting({ entry }: { entry: WaitlistEntry }) {
  const t = useText();
  const leave = useLeave();
  return (
    <article className="card ticket" aria-label={entry.sessionTitle}>
      <div>
        <div className="when">
          {entry.sessionStartTime ? (
            <Time at={entry.sessionStartTime} zone={entry.timeZone} as="longDay" />
          ) : (
            t.offers.window
          )}
          , <Time at={entry.sessionStartTime} zone={entry.timeZone} as="time" />
        </div>
        <div className="what">{entry.sessionTitle}</div>
        {entry.passedOverReason && (
          <div className="muted" style={{ fontSize: 13 }}>
            {t.session.passedOver(
              t.reasons[entry.passedOverReason]?.({}) ?? entry.passedOverReason,
            )}
          </div>
        )}
      </div>
      <div className="acts">
        <Tag tone="warn">{t.app.waitlisted(entry.position)}</Tag>
        <Button variant="subtle" onClick={() => void leave(entry.id, entry.sessionTitle)}>
          {t.app.leave}
        </Button>
      </div>
    </article>
  );
}
