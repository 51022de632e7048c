import {
  type Booking,
  BookingCancellationKind,
  BookingItemStatus,
  BookingService,
  BookingStatus,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconQrcode } from "@tabler/icons-react";
import { Link } from "react-router";
import { HOUR, millis, zoneName } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { Card, QueryResult, State, Tag, Time } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { DayAndTime, Heading, Note, Small, Subheading, SummaryCard } from "../ui";
import { EntryCard } from "../waitlists/entry";
import { OfferCard, useEntries } from "../waitlists/offers";
import { waitlistTexts } from "../waitlists/texts";
import { useCancelBooking } from "./cancel";
import { bookingTexts } from "./texts";

const PastBookings = later(() => import("./past"), "PastBookings", { fallback: null });

export function BookingsPage() {
  const t = useText(memberTexts, waitlistTexts);
  const upcoming = useQuery(
    BookingService.method.listBookings,
    { pageSize: 100 },
    { refetchInterval: 60_000 },
  );
  const entries = useEntries().data?.entries ?? [];
  const offers = entries.flatMap(({ liveOffer }) => liveOffer ?? []);
  const waiting = entries.filter(({ liveOffer }) => !liveOffer);
  return (
    <>
      <Heading>{t.app.myBookings}</Heading>
      <QueryResult query={upcoming}>
        {({ bookings }) => {
          const live = bookings.filter(isLive);
          const held = bookings.filter(({ status }) => status === BookingStatus.PENDING);
          if (live.length + held.length + entries.length === 0) {
            return (
              <Card bare>
                <State
                  title={t.app.noBookings}
                  action={
                    <>
                      <Button component={Link} to={routes.week.path()}>
                        {t.app.toWeek}
                      </Button>
                      <Button component={Link} to={routes.waitForWindow.path()} variant="subtle">
                        {t.timeWindow.title}
                      </Button>
                    </>
                  }
                  note={t.app.noBookingsNote}
                />
              </Card>
            );
          }
          return (
            <>
              {offers.map((offer) => (
                <OfferCard key={offer.id} offer={offer} />
              ))}
              {held.map((booking) => (
                <HeldCard key={booking.id} booking={booking} />
              ))}
              {waiting.length > 0 && <Subheading>{t.app.waiting}</Subheading>}
              {waiting.map((entry) => (
                <EntryCard key={entry.id} entry={entry} />
              ))}
              {live.length > 0 && <Subheading>{t.app.upcoming}</Subheading>}
              {live.map((booking) => (
                <BookingCard key={booking.id} booking={booking} />
              ))}
            </>
          );
        }}
      </QueryResult>
      <PastBookings />
    </>
  );
}

const isLive = ({ status }: Booking): boolean =>
  status === BookingStatus.CONFIRMED || status === BookingStatus.ATTENDED;

const ConfirmForm = later(() => import("./book"), "ConfirmForm");

function BookingCard({ booking }: { booking: Booking }) {
  const { t, locale } = useI18n(bookingTexts, memberTexts);
  const cancelBooking = useCancelBooking();
  const { id, cancelDeadline, cancellation } = booking;
  const { id: session, title, startTime, endTime, timeZone: zone } = sessionOf(booking);
  const soon = millis(startTime) - Date.now() < 24 * HOUR;
  const attended = booking.status === BookingStatus.ATTENDED;
  const items = booking.items.filter(({ status }) => status === BookingItemStatus.CONFIRMED);
  return (
    <SummaryCard
      title={title}
      seats={booking.partySize}
      time={
        <>
          <DayAndTime at={startTime} zone={zone} />–
          <Time at={endTime} zone={zone} as="time" /> <Note span>{zoneName(zone, locale)}</Note>
        </>
      }
      notes={
        <>
          {cancellation?.kind === BookingCancellationKind.FREE && (
            <Small>
              {t.app.freeUntil("")} <Time at={cancelDeadline} zone={zone} />
            </Small>
          )}
          {items.length > 0 && (
            <Small>
              {items.map(({ name, quantity }) => t.hold.keep(name, quantity)).join(", ")}
            </Small>
          )}
        </>
      }
      actions={
        attended ? (
          <Tag tone="good">{t.app.checkedIn}</Tag>
        ) : (
          <>
            {soon && (
              <Button
                component={Link}
                to={routes.checkIn.path({ session })}
                leftSection={<IconQrcode size={18} />}
              >
                {t.app.checkIn}
              </Button>
            )}
            <Button
              component={Link}
              to={routes.reschedule.path({ booking: id })}
              variant="default"
              aria-label={`${t.reschedule.action}: ${title}`}
            >
              {t.reschedule.action}
            </Button>
            <Button
              variant="default"
              onClick={() => void cancelBooking(id)}
              aria-label={`${t.app.cancel}: ${title}`}
            >
              {t.app.cancel}
            </Button>
          </>
        )
      }
    />
  );
}

/** A held seat, until it is confirmed or expires. */
function HeldCard({ booking }: { booking: Booking }) {
  const t = useText(bookingTexts);
  const [done, { open: finish }] = useDisclosure();
  if (done) return null;
  const { title, startTime, timeZone } = sessionOf(booking);
  return (
    <SummaryCard
      highlighted
      label={`${t.hold.held}: ${title}`}
      title={title}
      time={<DayAndTime at={startTime} zone={timeZone} />}
    >
      <ConfirmForm booking={booking} onDone={finish} />
    </SummaryCard>
  );
}
