import { CheckInService, type Member } from "@berthhq/client";
import { Box } from "@mantine/core";
import { useState } from "react";
import { usePages } from "../../../shared/api/pages";
import { useMe } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { sessionOf } from "../../../shared/schedules/summary";
import { Card, More, QueryResult, State, Tag, Time } from "../../../shared/ui";
import { BookingTag } from "../../bookings/tag";
import { routes } from "../../routes";
import { DataTable, type Days, DaysFilter, quiet, RowLink, Stats, timeRangeOf } from "../../ui";
import { uiTexts } from "../../ui/texts";
import { accountTexts } from "../texts";

/** A member's attendance. */
export function Attendance({ member }: { member: Member }) {
  const t = useText(accountTexts, uiTexts);
  const { tenant } = useMe();
  const [days, setDays] = useState<Days>([null, null]);
  const attendance = usePages(
    CheckInService.method.listAttendance,
    {
      memberId: member.id,
      filter: { startsWithin: timeRangeOf(days, tenant.timeZone) },
      pageSize: 30,
    },
    (page) => [page],
    { keep: true },
  );
  return (
    <QueryResult query={attendance}>
      {(pages) => (
        <>
          <Box mb={12}>
            <DaysFilter label={t.ui.when} value={days} onChange={setDays} />
          </Box>
          <Stats
            of={[
              [t.members.came, pages[0]?.attended ?? 0],
              [t.members.noShows, pages[0]?.noShows ?? 0],
              [t.members.late, pages[0]?.lateCancelled ?? 0],
            ]}
          />
          <Card bare>
            <DataTable
              rows={pages.flatMap(({ bookings }) => bookings)}
              linked
              empty={<State title={t.members.noAttendance} />}
              columns={[
                {
                  ...quiet,
                  w: 170,
                  show: (booking) => (
                    <Time at={sessionOf(booking).startTime} zone={sessionOf(booking).timeZone} />
                  ),
                },
                {
                  show: (booking) => (
                    <RowLink to={routes.session.path({ id: sessionOf(booking).id })}>
                      {sessionOf(booking).title}
                    </RowLink>
                  ),
                },
                {
                  ta: "right",
                  show: (booking) => (
                    <>
                      {booking.lateCancelled && <Tag tone="warn">{t.members.isLate}</Tag>}{" "}
                      <BookingTag booking={booking} />
                    </>
                  ),
                },
              ]}
            />
          </Card>
          <More query={attendance} />
        </>
      )}
    </QueryResult>
  );
}
