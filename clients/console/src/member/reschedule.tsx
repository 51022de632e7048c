import {
  BookingItemStatus,
  BookingService,
  EligibilityStatus,
  type Session,
  SessionService,
  SessionState,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useI18n, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { ask } from "../shared/ask";
import { useCall } from "../shared/calls";
import { Refused } from "../shared/form";
import { DAY, HOUR, showTime, zoneName } from "../shared/time";
import { Shown, State, Time } from "../shared/ui";
import { Heading } from "./heading";

const lookAhead = 28 * DAY;

/** Reschedules a booking to another session of the same service and location. */
export function ReschedulePage() {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useI18n();
  const navigate = useNavigate();
  const { id: bookingId = "" } = useParams();
  const query = useQuery(BookingService.method.getBooking, { bookingId });
  const booking = query.data?.booking;
  const current = useQuery(
    SessionService.method.getSession,
    { sessionId: booking?.sessionId ?? "" },
    { enabled: Boolean(booking) },
  ).data?.session;
  const [from] = useState(() => Math.floor(Date.now() / HOUR) * HOUR);
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: { start: timestampFromMs(from), end: timestampFromMs(from + lookAhead) },
        locationIds: current ? [current.locationId] : [],
        serviceIds: current ? [current.serviceId] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions,
    { enabled: Boolean(current), refetchInterval: 60_000 },
  );
  const [error, setError] = useState<unknown>();
  const reschedule = useCall(BookingService.method.rescheduleBooking, { quiet: true });
  const zone = booking?.timeZone ?? "UTC";
  const startOf = ({ startTime, timeZone }: Session) =>
    showTime(startTime ?? timestampFromMs(0), timeZone, locale, "dayTime");
  const go = async (to: Session) => {
    setError(undefined);
    const when = startOf(to);
    if (
      !(await ask({
        title: m.reschedule.sure(when),
        body: m.reschedule.note,
        yes: m.reschedule.action,
      }))
    )
      return;
    try {
      await reschedule.run({
        bookingId,
        sessionId: to.id,
        moveItems:
          booking?.items.some(({ status }) => status !== BookingItemStatus.CANCELLED) ?? false,
      });
      notifications.show({ message: m.reschedule.moved(when) });
      navigate("/bookings");
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <>
      <Heading>{m.reschedule.title}</Heading>
      <Shown of={query} rows={2}>
        {({ booking: found }) =>
          found && (
            <p style={{ marginTop: -6 }}>
              <strong>{m.reschedule.from(found.sessionTitle)}</strong>{" "}
              <Time at={found.sessionStartTime} zone={zone} /> {zoneName(zone, locale)}
              <br />
              <span className="muted">{m.reschedule.note}</span>
            </p>
          )
        }
      </Shown>
      <Refused error={error} zone={zone} />
      <h2>{m.reschedule.to}</h2>
      <Shown of={sessions}>
        {(all) => {
          const open = all.filter(
            (one) => one.id !== booking?.sessionId && takes(one, booking?.partySize ?? 1),
          );
          return (
            <div className="card">
              {open.length === 0 ? (
                <State title={m.reschedule.none}>{m.reschedule.noneNote}</State>
              ) : (
                open.map((one) => (
                  <article className="offer target" key={one.id} aria-label={one.title}>
                    <div>
                      <Time at={one.startTime} zone={one.timeZone} as="longDay" />
                      {", "}
                      <Time at={one.startTime} zone={one.timeZone} as="time" />
                      <div className="sub">
                        {one.title}
                        {one.coachName && ` · ${one.coachName}`}
                        {one.seatsOpen !== undefined && ` · ${t.app.open(one.seatsOpen)}`}
                      </div>
                    </div>
                    <Button
                      variant="light"
                      loading={reschedule.busy}
                      onClick={() => void go(one)}
                      aria-label={`${m.reschedule.here}: ${startOf(one)}`}
                    >
                      {m.reschedule.here}
                    </Button>
                  </article>
                ))
              )}
            </div>
          );
        }}
      </Shown>
    </>
  );
}

/** Whether a session has enough seats. The server checks everything else when asked. */
function takes({ seatsOpen, blocked, eligibility }: Session, party: number): boolean {
  const mine =
    eligibility?.status === EligibilityStatus.BOOKED ||
    eligibility?.status === EligibilityStatus.WAITLISTED;
  return !blocked && !mine && (seatsOpen === undefined || seatsOpen >= party);
}
