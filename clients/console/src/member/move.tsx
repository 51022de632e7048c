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
import { useSpeech, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { ask } from "../shared/ask";
import { useDo } from "../shared/calls";
import { Refused } from "../shared/form";
import { DAY, HOUR, showTime, zoneName } from "../shared/time";
import { Shown, State, Time } from "../shared/ui";
import { Heading } from "./heading";

const lookAhead = 28 * DAY;

/** Reschedules a booking to another session of the same service and location. */
export function MovePage() {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useSpeech();
  const navigate = useNavigate();
  const { id: bookingId = "" } = useParams();
  const asked = useQuery(BookingService.method.getBooking, { bookingId });
  const booking = asked.data?.booking;
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
  const move = useDo(BookingService.method.rescheduleBooking, { quiet: true });
  const zone = booking?.timeZone ?? "UTC";
  const go = async (to: Session) => {
    setError(undefined);
    const when = showTime(to.startTime ?? timestampFromMs(0), to.timeZone, locale, "dayTime");
    if (!(await ask({ title: m.move.sure(when), body: m.move.note, yes: m.move.move }))) return;
    try {
      await move.run({
        bookingId,
        sessionId: to.id,
        moveItems:
          booking?.items.some(({ status }) => status !== BookingItemStatus.CANCELLED) ?? false,
      });
      notifications.show({ message: m.move.moved(when) });
      navigate("/bookings");
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <>
      <Heading>{m.move.title}</Heading>
      <Shown of={asked} rows={2}>
        {({ booking: found }) =>
          found && (
            <p style={{ marginTop: -6 }}>
              <strong>{m.move.from(found.sessionTitle)}</strong>{" "}
              <Time at={found.sessionStartTime} zone={zone} /> {zoneName(zone, locale)}
              <br />
              <span className="muted">{m.move.note}</span>
            </p>
          )
        }
      </Shown>
      <Refused error={error} zone={zone} />
      <h2>{m.move.to}</h2>
      <Shown of={sessions}>
        {(all) => {
          const open = all.filter(
            (one) => one.id !== booking?.sessionId && takes(one, booking?.partySize ?? 1),
          );
          return (
            <div className="card">
              {open.length === 0 ? (
                <State title={m.move.none}>{m.move.noneNote}</State>
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
                      loading={move.busy}
                      onClick={() => void go(one)}
                      aria-label={`${m.move.here}: ${showTime(one.startTime ?? timestampFromMs(0), one.timeZone, locale, "dayTime")}`}
                    >
                      {m.move.here}
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
