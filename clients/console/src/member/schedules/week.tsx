import {
  BookingService,
  BookingStatus,
  EligibilityStatus,
  ErrorReason,
  type Session,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Button, Center, Group, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { useMe } from "../../shared/auth/user";
import {
  DAY,
  here,
  millis,
  sameClock,
  showDay,
  showSpan,
  startOf,
  type Temporal,
  today,
  zoned,
  zoneName,
} from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { Card, QueryResult, State, Tag, Time } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { useCancelBooking } from "../bookings/cancel";
import { useKeptText } from "../bookings/kept";
import {
  everyStatus,
  isBooked,
  useChosenLocation,
  usePublished,
  useServices,
} from "../catalog/data";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { Heading, Note, Small } from "../ui";
import classes from "./week.module.css";

const LocationSelect = later(() => import("../catalog/location-select"), "LocationSelect", {
  fallback: <Skeleton w={180} h={36} />, // the list below keeps its place
});

const BookDialog = later(() => import("../bookings/book"), "BookDialog", { opener: "chosen" });

/**
 * In ms. Open seats come with events, but the length of a waitlist does not, so the week is polled
 * while it is visible. Unchanged answers are not sent again.
 */
const pollInterval = 60_000;

/** How many days can be shown. */
const daysShown = 14;

/** The sessions of the next two weeks at one location, on the day that the URL names. */
export function WeekPage() {
  const { t, locale } = useI18n(memberTexts);
  const { member, tenant } = useMe();
  const [{ date }, change] = routes.week.useSearch();
  const [chosen, setChosen] = useState<Session>();
  const { query: places, locations, location, choose } = useChosenLocation();
  const services = useServices(everyStatus);
  const serviceOf = ({ serviceId }: Session) => services.data?.find(({ id }) => id === serviceId);
  const zone = location?.timeZone ?? tenant.timeZone;
  const first = today(zone);
  const days = Array.from({ length: daysShown }, (_, at) => first.add({ days: at }));
  const day = days.find((day) => day.toString() === date) ?? first;
  /** The local date of a session. */
  const dayOf = ({ startTime }: Session) =>
    startTime ? zoned(startTime, zone).toPlainDate().toString() : "";
  const start = startOf(first, zone);
  const end = timestampFromMs(millis(start) + (daysShown + 1) * DAY);
  const sessions = usePublished(
    { startsWithin: { start, end }, locationId: location?.id },
    {
      keep: true,
      refetchInterval: pollInterval,
      refetchOnWindowFocus: "always",
      enabled: Boolean(location),
    },
  );
  const bookings = useQuery(BookingService.method.listBookings, { pageSize: 100 });
  const isHeld = ({ eligibility }: Session) =>
    bookings.data?.bookings.some(
      ({ id, status }) => id === eligibility?.bookingId && status === BookingStatus.PENDING,
    ) ?? false;
  return (
    <>
      <Group justify="space-between" gap={10} mb={14}>
        <Heading tab={t.app.week} mb={0}>
          {t.app.hello(member.name.split(" ")[0] ?? member.name)}
        </Heading>
        {locations.length > 1 && (
          <LocationSelect
            w={180}
            aria-label={t.app.location}
            locations={locations}
            location={location}
            onChoose={choose}
          />
        )}
      </Group>
      <DayPicker
        days={days}
        day={day}
        booked={new Set(sessions.data?.filter(isBooked).map(dayOf))}
        onChoose={(date) => change({ date })}
      />
      <Group justify="space-between" gap="0 12px" mb={10} fz={13}>
        <Text span inherit fw={600}>
          {showDay(day, locale, "longDay")}
        </Text>
        <Note span>
          {sameClock(zone, here())
            ? zoneName(zone, locale)
            : t.common.otherZone(
                zone.replaceAll("_", " "),
                zoneName(zone, locale),
                zoneName(here(), locale),
              )}
        </Note>
      </Group>
      <QueryResult<unknown> query={location ? sessions : places} skeleton={listSkeleton}>
        {() => {
          const all = sessions.data ?? [];
          const shown = all.filter(
            (session) => dayOf(session) === day.toString() && millis(session.endTime) > Date.now(),
          );
          return (
            <>
              <Card bare>
                {shown.length === 0 ? (
                  <NoSessions others={all.length > 0} />
                ) : (
                  shown.map((session) => (
                    <SessionRow
                      key={session.id}
                      session={session}
                      color={serviceOf(session)?.color}
                      held={isHeld(session)}
                      onChoose={() => setChosen(session)}
                    />
                  ))
                )}
              </Card>
              {/* With the list: a link below it would move while a finger is on it. */}
              {location && (
                <Center mt={18} mb={15}>
                  <Button component={Link} to={routes.waitForWindow.path()} variant="subtle">
                    {t.app.timeWindow}
                  </Button>
                </Center>
              )}
            </>
          );
        }}
      </QueryResult>
      <BookDialog
        chosen={sessions.data?.find(({ id }) => id === chosen?.id) ?? chosen}
        location={location}
        serviceOf={serviceOf}
        onClose={() => setChosen(undefined)}
      />
    </>
  );
}

const listSkeleton = <Skeleton height={320} radius="lg" />;

/** A day without sessions. Others may have some. Staff can add sessions in the console. */
function NoSessions({ others }: { others: boolean }) {
  const t = useText(memberTexts);
  const { can } = useMe();
  if (others) return <State title={t.app.none} note={t.app.noneNote} />;
  return (
    <State
      title={t.app.nothing}
      note={t.app.nothingNote}
      action={
        can("session.create") && (
          <Button component="a" href="/">
            {t.app.staff}
          </Button>
        )
      }
    />
  );
}

/** Below this, the number of open seats is shown. */
const fewSeats = 5;

interface SessionRowProps {
  session: Session;
  /** The color of the service. */
  color: string | undefined;
  /** The member's seat is held, not booked. */
  held: boolean;
  onChoose: () => void;
}

function SessionRow({ session, color, held, onChoose }: SessionRowProps) {
  const reason = useBlockedReason(session);
  const kept = useKeptText(session);
  const seats = useSeatsText(session);
  return (
    <Box
      component="article"
      className={classes.session}
      __vars={{ "--color": color || undefined }}
      aria-label={session.title}
    >
      <div className={classes.start}>
        <Time at={session.startTime} zone={session.timeZone} as="time" />
        <Small>{showSpan(millis(session.endTime) - millis(session.startTime))}</Small>
      </div>
      <Box miw={0}>
        <div className={classes.title}>
          <Text span inherit truncate>
            {session.title}
          </Text>
        </div>
        {session.coachName && <Small truncate>{session.coachName}</Small>}
        <Small>{seats}</Small>
      </Box>
      <SessionAction session={session} held={held} onChoose={onChoose} />
      {(reason ?? kept) && <Small className={classes.reason}>{reason ?? kept}</Small>}
    </Box>
  );
}

interface SessionActionProps {
  session: Session;
  held: boolean;
  onChoose: () => void;
}

/** What the member can do: book, join the waitlist, confirm or cancel. */
function SessionAction({ session: { title, eligibility }, held, onChoose }: SessionActionProps) {
  const t = useText(memberTexts);
  const cancelBooking = useCancelBooking();
  if (held) {
    return (
      <Button
        component={Link}
        to={routes.bookings.path()}
        variant="light"
        aria-label={`${t.app.held}: ${title}`}
      >
        {t.app.held}
      </Button>
    );
  }
  switch (eligibility?.status) {
    case EligibilityStatus.ELIGIBLE:
    case EligibilityStatus.OFFERED:
    case EligibilityStatus.WAITLIST: {
      const waits = eligibility.status === EligibilityStatus.WAITLIST;
      const act = waits ? t.common.join : t.common.book;
      return (
        <Button
          variant={waits ? "light" : "filled"}
          onClick={onChoose}
          aria-label={`${act}: ${title}`}
        >
          {act}
        </Button>
      );
    }
    case EligibilityStatus.BOOKED:
      return (
        <Stack gap={4} align="end">
          <Tag tone="good">{t.app.booked}</Tag>
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={() => void cancelBooking(eligibility.bookingId)}
            aria-label={`${t.app.cancel}: ${title}`}
          >
            {t.app.cancel}
          </Button>
        </Stack>
      );
    case EligibilityStatus.WAITLISTED:
      return <Tag tone="warn">{t.app.waitlisted(eligibility.waitlistPosition ?? 0)}</Tag>;
    default:
      return null;
  }
}

function useSeatsText({ seatsOpen, waitlistLength }: Session): string {
  const t = useText(memberTexts);
  if (seatsOpen === undefined || seatsOpen > fewSeats) return t.app.plenty;
  if (seatsOpen > 0) return t.app.open(seatsOpen);
  return waitlistLength > 0 ? `${t.app.full} · ${t.common.waiting(waitlistLength)}` : t.app.full;
}

/** Why the member cannot book. */
function useBlockedReason({ eligibility, timeZone }: Session): string | undefined {
  const { t, locale } = useI18n(memberTexts);
  if (eligibility?.status !== EligibilityStatus.BLOCKED) return undefined;
  const { reason, metadata, message } = eligibility;
  if (reason !== ErrorReason.ADVANCE_WINDOW || !metadata.opens_at)
    return t.reasons[ErrorReason[reason] ?? ""]?.(metadata) ?? message;
  const opens = new Intl.DateTimeFormat(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
  });
  return t.app.opensAt(opens.format(Date.parse(metadata.opens_at)));
}

interface DayPickerProps {
  days: readonly Temporal.PlainDate[];
  day: Temporal.PlainDate;
  booked: ReadonlySet<string>;
  onChoose: (day: string) => void;
}

/** Chooses a day. Days with bookings have a dot. */
function DayPicker({ days, day, booked, onChoose }: DayPickerProps) {
  const { t, locale } = useI18n();
  const root = useRef<HTMLElement>(null);
  const chosen = day.toString();
  // On phones, days may not fit: scroll to the selected one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another day is shown
  useEffect(() => {
    root.current
      ?.querySelector('[aria-pressed="true"]')
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen]);
  return (
    <nav className={classes.days} aria-label={t.fields.date} ref={root}>
      {days.map((one) => {
        const key = one.toString();
        return (
          <button
            key={key}
            type="button"
            className={`${classes.day} ${booked.has(key) ? classes.booked : ""}`}
            aria-pressed={key === chosen}
            onClick={() => onChoose(key)}
          >
            {showDay(one, locale, "weekday")} <b>{one.day}</b>{" "}
            <VisuallyHidden>{showDay(one, locale, "month")}</VisuallyHidden>
            <i />
          </button>
        );
      })}
    </nav>
  );
}
