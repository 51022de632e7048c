import { CheckInService, type Member } from "@berthhq/client";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Link } from "react-router";
import { useText } from "../../i18n";
import { More, paged, Shown, State, Tag, Time } from "../../shared/ui";
import { BookingTag } from "../bookings/tag";
import { Stats } from "../stats";

/** A member's attendance. */
export function Attendance({ member }: { member: Member }) {
  const t = useText();
  const attendance = useInfiniteQuery(
    CheckInService.method.listAttendance,
    { memberId: member.id, pageSize: 30, pageToken: "" },
    paged,
  );
  return (
    <Shown of={attendance}>
      {({ pages }) => {
        const [first] = pages;
        const bookings = pages.flatMap((page) => page.bookings);
        return (
          <>
            <Stats
              of={[
                [t.members.came, first?.attended ?? 0],
                [t.members.noShows, first?.noShows ?? 0],
                [t.members.late, first?.lateCancelled ?? 0],
              ]}
            />
            <div className="card">
              {bookings.length === 0 ? (
                <State title={t.members.noAttendance} />
              ) : (
                <table className="table">
                  <tbody>
                    {bookings.map((booking) => (
                      <tr key={booking.id} className="link">
                        <td className="muted" style={{ width: 170, whiteSpace: "nowrap" }}>
                          <Time at={booking.sessionStartTime} zone={booking.timeZone} />
                        </td>
                        <td>
                          <Link className="cover" to={`/sessions/${booking.sessionId}`}>
                            {booking.sessionTitle}
                          </Link>
                        </td>
                        <td className="right">
                          {booking.lateCancelled && <Tag tone="warn">{t.session.late}</Tag>}{" "}
                          <BookingTag booking={booking} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
            </div>
            <More of={attendance} />
          </>
        );
      }}
    </Shown>
  );
}
