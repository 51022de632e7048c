import { BookingItemStatus, BookingService, type Session, SessionService } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useCall } from "../../shared/api/calls";
import { ask } from "../../shared/dialogs/question";
import { DAY, showTime, zoneName } from "../../shared/format/time";
import { FormError } from "../../shared/forms/form";
import { useI18n } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { Card, QueryResult, State, Time } from "../../shared/ui";
import { isBooked, usePublished, useRange } from "../catalog/data";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { DayAndTime, Heading, Note, Small, Subheading } from "../ui";
import classes from "./reschedule.module.css";
import { bookingTexts } from "./texts";

const lookAhead = 28 * DAY;

/** Reschedules a booking to another session of the same service and location. */
export function ReschedulePage() {
  const { t, locale } = useI18n(bookingTexts, memberTexts);
  const navigate = useNavigate();
  const { booking: bookingId } = routes.reschedule.useParams();
  const query = useQuery(BookingService.method.getBooking, { bookingId });
  const booking = query.data?.booking;
  const current = useQuery(
    SessionService.method.getSession,
    { sessionId: sessionOf(booking).id },
    { enabled: Boolean(booking) },
  ).data?.session;
  const startsWithin = useRange(0, lookAhead);
  const sessions = usePublished(
    { startsWithin, locationId: current?.locationId, serviceId: current?.serviceId },
    { enabled: Boolean(current), refetchInterval: 60_000 },
  );
  const [error, setError] = useState<unknown>();
  const reschedule = useCall(BookingService.method.rescheduleBooking, { quiet: true });
  const zone = sessionOf(booking).timeZone || "UTC";
  const startOf = ({ startTime, timeZone }: Session) =>
    showTime(startTime ?? timestampFromMs(0), timeZone, locale, "dayTime");
  const go = async (to: Session) => {
    setError(undefined);
    const when = startOf(to);
    const sure = await ask({
      title: t.reschedule.sure(when),
      body: t.reschedule.note,
      yes: t.reschedule.action,
    });
    if (!sure) return;
    try {
      await reschedule.run({
        bookingId,
        sessionId: to.id,
        moveItems:
          booking?.items.some(({ status }) => status !== BookingItemStatus.CANCELLED) ?? false,
      });
      notifications.show({ message: t.reschedule.moved(when) });
      navigate(routes.bookings.path());
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <>
      <Heading>{t.reschedule.title}</Heading>
      <QueryResult query={query} rows={2}>
        {({ booking: found }) =>
          found && (
            <Text inherit mt={-6} mb={15}>
              <strong>{t.reschedule.from(sessionOf(found).title)}</strong>{" "}
              <Time at={sessionOf(found).startTime} zone={zone} /> {zoneName(zone, locale)}
              <br />
              <Note span>{t.reschedule.note}</Note>
            </Text>
          )
        }
      </QueryResult>
      <FormError error={error} zone={zone} />
      <Subheading>{t.reschedule.to}</Subheading>
      <QueryResult query={sessions}>
        {(all) => {
          const open = all.filter(
            (one) => one.id !== sessionOf(booking).id && takes(one, booking?.partySize ?? 1),
          );
          return (
            <Card bare>
              {open.length === 0 ? (
                <State title={t.reschedule.none} note={t.reschedule.noneNote} />
              ) : (
                open.map((one) => (
                  <article className={classes.session} key={one.id} aria-label={one.title}>
                    <div>
                      <DayAndTime at={one.startTime} zone={one.timeZone} />
                      <Small>
                        {one.title}
                        {one.coachName && ` · ${one.coachName}`}
                        {one.seatsOpen !== undefined && ` · ${t.app.open(one.seatsOpen)}`}
                      </Small>
                    </div>
                    <Button
                      variant="light"
                      loading={reschedule.busy}
                      onClick={() => void go(one)}
                      aria-label={`${t.reschedule.here}: ${startOf(one)}`}
                    >
                      {t.reschedule.here}
                    </Button>
                  </article>
                ))
              )}
            </Card>
          );
        }}
      </QueryResult>
    </>
  );
}

/** Whether a session has enough seats, or keeps them. The server checks everything else when asked. */
function takes(session: Session, party: number): boolean {
  const { seatsOpen, blocked, eligibility } = session;
  if (blocked) return false;
  const kept = Math.min(party, eligibility?.offerSeats ?? 0);
  if (kept === 0 && isBooked(session)) return false;
  return seatsOpen === undefined || seatsOpen >= party - kept;
}
