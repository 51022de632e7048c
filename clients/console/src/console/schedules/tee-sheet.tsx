import {
  type Booking,
  BookingService,
  BookingStatus,
  type Session,
  SessionStatus,
} from "@berthhq/client";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import {
  ActionIcon,
  Box,
  Button,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
} from "@mantine/core";
import { useInputState } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useCan, useMe } from "../../shared/auth/user";
import {
  millis,
  minuteOfDay,
  showClock,
  showDay,
  startOf,
  Temporal,
  today,
  zoned,
} from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { useSessions } from "../../shared/schedules/sessions";
import { Card, PageHead, QueryResult, State, Tag, Time } from "../../shared/ui";
import { Countdown } from "../../shared/ui/countdown";
import type { Held } from "../bookings/hold";
import { HoldDrawer } from "../bookings/hold-drawer";
import { bookingTexts } from "../bookings/texts";
import { useCatalog, WithCatalog } from "../catalog/loaded";
import { routes } from "../routes";
import { DatePickerInput, Dimmed, Page } from "../ui";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import { zoneNote } from "./data";
import classes from "./tee.module.css";
import { scheduleTexts } from "./texts";
import { Turn } from "./turn";

export const TeeSheetPage = () => (
  <WithCatalog>
    <TeeSheet />
  </WithCatalog>
);

function TeeSheet() {
  const catalog = useCatalog();
  const { t, locale } = useI18n(scheduleTexts, uiTexts);
  const { tenant } = useMe();
  const [search, change] = routes.teeSheet.useSearch();
  const [held, setHeld] = useState<Held>();
  const [onlyOpen, setOnlyOpen] = useInputState(false);
  const tees = catalog.resources.filter(
    ({ kind, active }) => active && kind.toLowerCase() === "tee",
  );
  const tee = catalog.resource(search.tee) ?? tees[0];
  const course = catalog.location(tee?.locationId ?? "");
  const zone = course?.timeZone ?? tenant.timeZone;
  const day = search.date ?? today(zone);
  const sessions = useSessions(
    {
      startsWithin: { start: startOf(day, zone), end: startOf(day.add({ days: 1 }), zone) },
      resourceIds: tee ? [tee.id] : [],
      statuses: [SessionStatus.PUBLISHED, SessionStatus.DRAFT],
    },
    { keep: true, refetchInterval: 60_000 },
  );
  const rosters = useRosters(sessions.data ?? []);
  const go = (date: Temporal.PlainDate) => change({ date });
  const shown = (sessions.data ?? []).filter(({ seatsOpen }) => !onlyOpen || (seatsOpen ?? 1) > 0);
  const hours = Map.groupBy(shown, ({ startTime }) =>
    startTime ? zoned(startTime, zone).hour : 0,
  );
  const players = (sessions.data ?? []).reduce((sum, { seatsTaken }) => sum + seatsTaken, 0);
  return (
    <Page>
      <PageHead title={t.nav.teeSheet} note={t.tees.note}>
        <Turn onToday={() => go(today(zone))} onTurn={(days) => go(day.add({ days }))} />
        <DatePickerInput
          value={day.toString()}
          valueFormat="ddd, D MMM"
          onChange={(value) => value && go(Temporal.PlainDate.from(value))}
          w={150}
        />
        {tees.length > 1 && (
          <Select
            aria-label={t.tees.course}
            allowDeselect={false}
            value={tee?.id ?? null}
            onChange={(id) => change({ tee: id ?? "" })}
            data={tees.map(({ id, name, locationId }) => ({
              value: id,
              label: `${catalog.location(locationId)?.name ?? ""}, ${name}`,
            }))}
          />
        )}
      </PageHead>
      <Group gap={16} mb={12} fz="sm">
        <strong>{showDay(day, locale, "longDay")}</strong>
        <Dimmed>
          {course?.name}, {tee?.name} · {zoneNote(zone, locale, t)}
        </Dimmed>
        <Dimmed className={text.num}>
          {t.tees.times(sessions.data?.length ?? 0)} · {t.tees.players(players)}
        </Dimmed>
        <Switch
          ml="auto"
          size="xs"
          label={t.tees.onlyOpen}
          checked={onlyOpen}
          onChange={setOnlyOpen}
        />
      </Group>
      <QueryResult query={sessions}>
        {() =>
          tee === undefined ? (
            <State
              title={t.tees.none}
              note={t.tees.noneNote}
              action={
                <Button component={Link} to={routes.catalog.path({ tab: "resources" })}>
                  {t.nav.catalog}
                </Button>
              }
            />
          ) : shown.length === 0 ? (
            <State title={t.tees.empty} />
          ) : (
            <Stack gap={18}>
              {[...hours].map(([hour, times]) => (
                <Card bare key={hour} aria-label={`${hour}:00`}>
                  <SimpleGrid minColWidth={268} spacing={8} p={14}>
                    {times.map((session) => (
                      <Tee
                        key={session.id}
                        session={session}
                        bookings={rosters.get(session.id)}
                        zone={zone}
                        onHold={setHeld}
                      />
                    ))}
                  </SimpleGrid>
                </Card>
              ))}
            </Stack>
          )
        }
      </QueryResult>
      <HoldDrawer held={held} onChange={setHeld} />
    </Page>
  );
}

/** The players of each tee time. Rosters are read only for tee times with bookings. */
function useRosters(sessions: readonly Session[]): Map<string, readonly Booking[]> {
  const transport = useTransport();
  return useQueries({
    queries: sessions
      .filter(({ seatsTaken }) => seatsTaken > 0)
      .map(({ id: sessionId, seatsTaken }) => ({
        // A change in the number of seats taken reads the roster again.
        queryKey: ["roster", sessionId, seatsTaken],
        queryFn: async () => {
          const { bookings } = await callUnaryMethod(
            transport,
            BookingService.method.getSessionRoster,
            {
              sessionId,
            },
          );
          return [sessionId, bookings] as const;
        },
        staleTime: 30_000,
      })),
    combine: (rosters) => new Map(rosters.flatMap(({ data }) => (data ? [data] : []))),
  });
}

interface TeeProps {
  session: Session;
  bookings?: readonly Booking[] | undefined;
  zone: string;
  onHold: (held: Held) => void;
}

/** A tee time: its seats, players and holds. */
function Tee({ session, bookings = [], zone, onHold }: TeeProps) {
  const t = useText(bookingTexts, scheduleTexts, uiTexts);
  const can = useCan();
  const open = session.seatsOpen ?? 0;
  const clock = showClock(session.startTime ? minuteOfDay(zoned(session.startTime, zone)) : 0);
  const called = ({ memberName, contact }: Booking) => memberName || contact?.name || t.ui.guest;
  const nameOf = (booking: Booking) =>
    booking.partySize > 1 ? `${called(booking)} × ${booking.partySize}` : called(booking);
  const isHold = ({ status }: Booking) => status === BookingStatus.PENDING;
  const holds = bookings.filter(isHold);
  const names = bookings.filter((booking) => !isHold(booking)).map(nameOf);
  const items = bookings.flatMap((booking) =>
    booking.items.map(({ name, quantity }) => `${quantity} ${name}`),
  );
  const coming = millis(session.startTime) > Date.now();
  const holdable =
    can("booking.hold_for_others") &&
    coming &&
    open > 0 &&
    !session.blocked &&
    session.status === SessionStatus.PUBLISHED;
  return (
    <article className={classes.tee} data-over={millis(session.endTime) < Date.now() || undefined}>
      <Link className={classes.cover} to={routes.session.path({ id: session.id })}>
        <Time at={session.startTime} zone={zone} as="time" />
      </Link>
      <Box miw={0}>
        <div className={classes.line}>
          <Seats session={session} bookings={bookings} />
          <Dimmed fz="xs">
            {session.blocked ? (
              <Tag tone="warn">{t.sessionState.blocked}</Tag>
            ) : session.status === SessionStatus.DRAFT ? (
              <Tag tone="warn">{t.sessionState.draft}</Tag>
            ) : open > 0 ? (
              t.tees.open(open)
            ) : (
              t.tees.full
            )}
          </Dimmed>
        </div>
        <div className={classes.line}>
          <Text span inherit truncate fz="sm">
            {names.join(", ") || (holds.length === 0 && <Dimmed>–</Dimmed>)}
          </Text>
          {holdable && (
            <ActionIcon
              size="sm"
              variant="light"
              color="tide"
              aria-label={t.hold.at(clock)}
              onClick={() => onHold({ session })}
            >
              <IconPlus size={15} />
            </ActionIcon>
          )}
        </div>
        {holds.map((booking) => (
          <div key={booking.id} className={`${classes.line} ${classes.hold}`}>
            <Text span inherit truncate>
              {nameOf(booking)} · <Countdown until={booking.holdExpireTime} />
            </Text>
            {can("booking.confirm_any") && (
              <Button
                size="compact-xs"
                variant="light"
                aria-label={`${t.hold.confirm}: ${called(booking)}`}
                onClick={() => onHold({ session, booking })}
              >
                {t.hold.confirm}
              </Button>
            )}
          </div>
        ))}
        {items.length > 0 && (
          <Text component="div" inherit c="dimmed" truncate fz="xs">
            {items.join(", ")}
          </Text>
        )}
      </Box>
    </article>
  );
}

/** How seats of bookings are shown that are not simply taken. */
const seatStates: Partial<Record<BookingStatus, string>> = {
  [BookingStatus.ATTENDED]: "arrived",
  [BookingStatus.PENDING]: "held",
};

/** A dot for each seat: free, held, taken, or taken by someone who has arrived. */
function Seats({ session, bookings }: { session: Session; bookings: readonly Booking[] }) {
  const states = bookings.flatMap(({ status, partySize }) =>
    Array<string>(partySize).fill(seatStates[status] ?? "taken"),
  );
  while (states.length < session.seatsTaken) states.push("taken");
  while (states.length < (session.capacity ?? 0)) states.push("free");
  return (
    <span className={classes.seats} aria-hidden>
      {states.map((state, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: seats have no id
        <i key={at} data-state={state} />
      ))}
    </span>
  );
}
