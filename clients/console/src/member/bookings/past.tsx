import { BookingService, BookingStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { DAY } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { Card, Tag, Time, type Tone } from "../../shared/ui";
import { DataTable } from "../../shared/ui/data-table";
import { useRange } from "../catalog/data";
import { memberTexts } from "../texts";
import { Subheading } from "../ui";

const tones: Readonly<Partial<Record<BookingStatus, Tone>>> = {
  [BookingStatus.ATTENDED]: "good",
  [BookingStatus.NO_SHOW]: "bad",
};

/** The bookings of the last 60 days. */
export function PastBookings() {
  const t = useText(memberTexts);
  const startsWithin = useRange(60 * DAY, 0);
  const { data } = useQuery(BookingService.method.listBookings, {
    filter: { startsWithin },
    pageSize: 100,
  });
  if (!data || data.bookings.length === 0) return null;
  return (
    <>
      <Subheading>{t.app.past}</Subheading>
      <Card bare>
        <DataTable
          rows={[...data.bookings].reverse()}
          columns={[
            {
              c: "dimmed",
              show: (booking) => (
                <Time at={sessionOf(booking).startTime} zone={sessionOf(booking).timeZone} />
              ),
            },
            { show: (booking) => sessionOf(booking).title },
            {
              ta: "right",
              show: ({ status }) => <Tag tone={tones[status] ?? ""}>{t.bookingStatus[status]}</Tag>,
            },
          ]}
        />
      </Card>
    </>
  );
}
