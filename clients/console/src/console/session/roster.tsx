import { type Booking, BookingStatus, type Session } from "@berthhq/client";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useText } from "../../i18n";
import { Countdown } from "../../shared/countdown";
import { useCan } from "../../shared/me";
import { Face, Time } from "../../shared/ui";
import { BookingActions } from "../bookings/actions";
import { BookingTag } from "../bookings/tag";

/** Who is booked, with the actions on each booking. */
export function Roster({
  bookings,
  session,
  onConfirm,
}: {
  bookings: readonly Booking[];
  session: Session;
  onConfirm: (booking: Booking) => void;
}) {
  const t = useText();
  return (
    <div className="scroll-x">
      <table className="table">
        <tbody>
          {bookings.map((booking) => (
            <tr key={booking.id}>
              <td>
                <Person
                  id={booking.memberId}
                  name={booking.memberName || booking.contact?.name || t.session.guest}
                >
                  {[
                    booking.partySize > 1 && `× ${booking.partySize}`,
                    booking.promoted && t.session.promoted,
                    booking.channel > 1 && t.session.channel[booking.channel],
                    booking.items.map(({ name, quantity }) => `${quantity} ${name}`).join(", "),
                    booking.note,
                    booking.cancelReason,
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </Person>
              </td>
              <td className="right" style={{ whiteSpace: "nowrap" }}>
                {booking.status === BookingStatus.ATTENDED && (
                  <span className="muted" style={{ marginRight: 8 }}>
                    <Time at={booking.checkInTime} zone={session.timeZone} as="time" />{" "}
                    {t.session.method[booking.checkInMethod]}
                  </span>
                )}
                {booking.status === BookingStatus.PENDING && (
                  <span style={{ marginRight: 8 }}>
                    <Countdown until={booking.holdExpireTime} />
                  </span>
                )}
                <BookingTag booking={booking} />
              </td>
              <td className="right" style={{ width: 1, whiteSpace: "nowrap" }}>
                <BookingActions booking={booking} onConfirm={onConfirm} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Person({ id, name, children }: { id: string; name: string; children?: ReactNode }) {
  const can = useCan();
  return (
    <span className="person">
      <Face name={name} />
      <span style={{ minWidth: 0 }}>
        {id && can("member.read") ? (
          <Link to={`/members/${id}`}>{name}</Link>
        ) : (
          <span style={{ fontWeight: 560 }}>{name}</span>
        )}
        {children && (
          <div className="muted ellipsis" style={{ fontSize: 12, maxWidth: 320 }}>
            {children}
          </div>
        )}
      </span>
    </span>
  );
}
