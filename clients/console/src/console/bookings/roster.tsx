import {
  type Booking,
  BookingService,
  BookingStatus,
  CheckInMethod,
  type Session,
  SessionStatus,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Switch } from "@mantine/core";
import { useInputState } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { State, Tag, Time } from "../../shared/ui";
import { routes } from "../routes";
import { Dimmed, dotted, List, Person, right } from "../ui";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import { BookingActions } from "./actions";
import { BookingTag } from "./tag";
import { bookingTexts } from "./texts";

const allStatuses = [
  BookingStatus.PENDING,
  BookingStatus.CONFIRMED,
  BookingStatus.ATTENDED,
  BookingStatus.NO_SHOW,
  BookingStatus.CANCELLED,
  BookingStatus.EXPIRED,
];

/** The bookings of a session. Events tell of changes by other users; polling covers missed events. */
export const useRoster = (sessionId: string, statuses: BookingStatus[] = []) =>
  useQuery(
    BookingService.method.getSessionRoster,
    { sessionId, statuses },
    {
      refetchInterval: 60_000,
      placeholderData: keepPreviousData,
      select: ({ bookings }) => bookings,
    },
  );

/** The number of seats of bookings with one of the statuses. */
export const seatsIn = (bookings: readonly Booking[] = [], ...statuses: BookingStatus[]) =>
  bookings.reduce(
    (sum, { status, partySize }) => sum + (statuses.includes(status) ? partySize : 0),
    0,
  );

interface RosterProps {
  session: Session;
  onConfirm: (booking: Booking) => void;
}

/** Who is booked, with the actions on each booking. */
export function Roster({ session, onConfirm }: RosterProps) {
  const t = useText(bookingTexts, uiTexts);
  const can = useCan();
  const [inactive, setInactive] = useInputState(false);
  const roster = useRoster(session.id, inactive ? allStatuses : []);
  const arrived = seatsIn(roster.data, BookingStatus.ATTENDED);
  const booked = seatsIn(roster.data, BookingStatus.CONFIRMED);
  return (
    <List
      query={roster}
      title={
        <>
          {t.bookings.roster}{" "}
          {arrived + booked > 0 && (
            <Dimmed fw={450} className={text.num}>
              {t.bookings.arrived(arrived, arrived + booked)}
            </Dimmed>
          )}
        </>
      }
      extra={
        <Switch size="xs" label={t.bookings.inactive} checked={inactive} onChange={setInactive} />
      }
      empty={
        <State
          title={t.bookings.empty}
          note={session.status !== SessionStatus.CANCELLED && t.bookings.emptyNote}
        />
      }
      columns={[
        {
          show: (booking) => (
            <Person
              truncate
              to={
                booking.memberId &&
                can("member.read") &&
                routes.member.path({ id: booking.memberId })
              }
              name={booking.memberName || booking.contact?.name || t.ui.guest}
            >
              {dotted(
                booking.partySize > 1 && `× ${booking.partySize}`,
                booking.promoted && t.bookings.promoted,
                booking.channel > 1 && t.ui.channel[booking.channel],
                booking.items.map(({ name, quantity }) => `${quantity} ${name}`).join(", "),
                booking.benefit &&
                  `${booking.benefit.providerCode} ${booking.benefit.membershipNumber}`,
                booking.note,
                booking.cancelReason,
              )}
            </Person>
          ),
        },
        {
          ...right,
          show: (booking) => (
            <>
              {booking.status === BookingStatus.ATTENDED && (
                <Dimmed mr={8}>
                  <Time at={booking.checkInTime} zone={session.timeZone} as="time" />{" "}
                  {t.bookings.method[booking.checkInMethod]}{" "}
                  {booking.checkInMethod === CheckInMethod.GPS && (
                    <span title={t.bookings.unprovenNote}>
                      <Tag tone="warn">{t.bookings.unproven}</Tag>
                    </span>
                  )}
                </Dimmed>
              )}
              {booking.benefit && !booking.benefit.verified && (
                <span title={t.bookings.unverifiedNote}>
                  <Tag tone="warn">{t.ui.unverified}</Tag>{" "}
                </span>
              )}
              <BookingTag booking={booking} />
            </>
          ),
        },
        {
          ...right,
          w: 1,
          show: (booking) => <BookingActions booking={booking} onConfirm={onConfirm} />,
        },
      ]}
    />
  );
}
