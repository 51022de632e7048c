import "./teesheet.css";
import {
  type Booking,
  BookingService,
  BookingStatus,
  type Session,
  SessionService,
  SessionState,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { ActionIcon, Button, Select, Switch } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { IconChevronLeft, IconChevronRight, IconPlus } from "@tabler/icons-react";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAddress } from "../../shared/address";
import { useAll } from "../../shared/all";
import { Countdown } from "../../shared/countdown";
import { useCan, useMe } from "../../shared/me";
import {
  DAY,
  millis,
  minuteOfDay,
  showClock,
  showDay,
  startOf,
  Temporal,
  today,
  zoned,
} from "../../shared/time";
import { PageHead, Shown, State, Tag, Time } from "../../shared/ui";
import { type Held, HoldDrawer } from "../bookings/hold";
import { type Catalog, useCatalog } from "../data";
import { zoneNote } from "../schedule/zone";

export function TeeSheetPage() {
  const catalog = useCatalog();
  return <Shown of={catalog}>{(all) => <TeeSheet catalog={all} />}</Shown>;
}

function TeeSheet({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { locale } = useI18n();
  const { tenant } = useMe();
  const [params, change] = useAddress();
  const [held, setHeld] = useState<Held>();
  const [onlyOpen, setOnlyOpen] = useState(false);
  const tees = catalog.resources.filter(
    ({ kind, active }) => active && kind.toLowerCase() === "tee",
  );
  const tee = catalog.resource(params.get("tee") ?? "") ?? tees[0];
  const course = catalog.location(tee?.locationId ?? "");
  const zone = course?.timeZone ?? tenant.timeZone;
  const wanted = params.get("date");
  const day = wanted ? Temporal.PlainDate.from(wanted) : today(zone);
  const start = millis(startOf(day, zone));
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: {
          start: timestampFromMs(start),
          end: timestampFromMs(millis(startOf(day.add({ days: 1 }), zone)) || start + DAY),
        },
        resourceIds: tee ? [tee.id] : [],
        states: [SessionState.PUBLISHED, SessionState.DRAFT],
      },
    },
    (answer) => answer.sessions,
    { keep: true, refetchInterval: 60_000 },
  );
  const rosters = useRosters(sessions.data ?? []);
  const go = (to: Temporal.PlainDate) => change({ date: to.toString() });
  const shown = (sessions.data ?? []).filter(({ seatsOpen }) => !onlyOpen || (seatsOpen ?? 1) > 0);
  const hours = new Map<number, Session[]>();
  for (const session of shown) {
    if (!session.startTime) continue;
    const hour = Math.floor(minuteOfDay(zoned(session.startTime, zone)) / 60);
    hours.set(hour, [...(hours.get(hour) ?? []), session]);
  }
  const players = (sessions.data ?? []).reduce((sum, { seatsTaken }) => sum + seatsTaken, 0);
  return (
    <div className="page">
      <PageHead title={t.nav.teeSheet} note={t.tees.note}>
        <Button variant="default" onClick={() => go(today(zone))}>
          {t.schedule.today}
        </Button>
        <ActionIcon.Group>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={t.schedule.before}
            onClick={() => go(day.subtract({ days: 1 }))}
          >
            <IconChevronLeft size={17} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={t.schedule.after}
            onClick={() => go(day.add({ days: 1 }))}
          >
            <IconChevronRight size={17} />
          </ActionIcon>
        </ActionIcon.Group>
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
            onChange={(id) => change({ tee: id })}
            data={tees.map(({ id, name, locationId }) => ({
              value: id,
              label: `${catalog.location(locationId)?.name ?? ""}, ${name}`,
            }))}
          />
        )}
      </PageHead>
      <div className="filters" style={{ alignItems: "center", gap: 16, fontSize: 13 }}>
        <strong>{showDay(day, locale, "longDay")}</strong>
        <span className="muted">
          {course?.name}, {tee?.name} · {zoneNote(zone, locale, t)}
        </span>
        <span className="muted num">
          {t.tees.times(sessions.data?.length ?? 0)} · {t.tees.players(players)}
        </span>
        <Switch
          ml="auto"
          size="xs"
          label={t.tees.onlyOpen}
          checked={onlyOpen}
          onChange={(event) => setOnlyOpen(event.currentTarget.checked)}
        />
      </div>
      <Shown of={sessions}>
        {() =>
          shown.length === 0 ? (
            <State title={t.tees.empty} />
          ) : (
            <div className="stack">
              {[...hours].map(([hour, times]) => (
                <section className="card" key={hour} aria-label={`${hour}:00`}>
                  <div className="tees">
                    {times.map((session) => (
                      <Tee
                        key={session.id}
                        session={session}
                        bookings={rosters.get(session.id)}
                        zone={zone}
                        onHold={setHeld}
                      />
                    ))}
                  </div>
                </section>
              ))}
            </div>
          )
        }
      </Shown>
      <HoldDrawer held={held} catalog={catalog} onChange={setHeld} />
    </div>
  );
}

/** The players of each tee time. Rosters are read only for tee times with bookings. */
function useRosters(sessions: readonly Session[]): Map<string, readonly Booking[]> {
  const transport = useTransport();
  const taken = sessions.filter(({ seatsTaken }) => seatsTaken > 0);
  return useQueries({
    queries: taken.map((session) => ({
      queryKey: ["roster", session.id, session.seatsTaken],
      queryFn: () =>
        callUnaryMethod(transport, BookingService.method.listRoster, { sessionId: session.id }),
      staleTime: 30_000,
    })),
    combine: (answers) =>
      new Map(answers.map(({ data }, at) => [taken[at]?.id ?? "", data?.bookings ?? []])),
  });
}

function Tee({
  session,
  bookings = [],
  zone,
  onHold,
}: {
  session: Session;
  bookings?: readonly Booking[] | undefined;
  zone: string;
  onHold: (held: Held) => void;
}) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const balls: string[] = bookings.flatMap(({ status, partySize }) =>
    Array.from({ length: partySize }, () =>
      status === BookingStatus.ATTENDED
        ? "taken came"
        : status === BookingStatus.PENDING
          ? "held"
          : "taken",
    ),
  );
  while (balls.length < session.seatsTaken) balls.push("taken");
  while (balls.length < (session.capacity ?? 0)) balls.push("");
  const open = session.seatsOpen ?? 0;
  const clock = showClock(session.startTime ? minuteOfDay(zoned(session.startTime, zone)) : 0);
  const called = ({ memberName, contact }: Booking) =>
    memberName || contact?.name || t.session.guest;
  const names = bookings
    .filter(({ status }) => status !== BookingStatus.PENDING)
    .map(
      (booking) => `${called(booking)}${booking.partySize > 1 ? ` × ${booking.partySize}` : ""}`,
    );
  const holds = bookings.filter(({ status }) => status === BookingStatus.PENDING);
  const items = bookings.flatMap((booking) =>
    booking.items.map(({ name, quantity }) => `${quantity} ${name}`),
  );
  const coming = millis(session.startTime) > Date.now();
  const holdable =
    can("booking.hold_for_others") &&
    coming &&
    open > 0 &&
    !session.blocked &&
    session.state === SessionState.PUBLISHED;
  return (
    <article className={`tee ${millis(session.endTime) < Date.now() ? "over" : ""}`}>
      <Link className="cover" to={`/sessions/${session.id}`}>
        <Time at={session.startTime} zone={zone} as="time" />
      </Link>
      <div style={{ minWidth: 0 }}>
        <div className="tee-line">
          <span className="balls" aria-hidden>
            {balls.map((kind, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: seats have no id
              <i key={at} className={kind} />
            ))}
          </span>
          <span className="muted" style={{ fontSize: 12 }}>
            {session.blocked ? (
              <Tag tone="warn">{t.sessionState.blocked}</Tag>
            ) : session.state === SessionState.DRAFT ? (
              <Tag tone="warn">{t.sessionState.draft}</Tag>
            ) : open > 0 ? (
              t.tees.open(open)
            ) : (
              t.tees.full
            )}
          </span>
        </div>
        <div className="tee-line">
          <span className="ellipsis" style={{ fontSize: 13 }}>
            {names.join(", ") || (holds.length === 0 && <span className="muted">–</span>)}
          </span>
          {holdable && (
            <ActionIcon
              size="sm"
              variant="light"
              color="tide"
              aria-label={d.hold.at(clock)}
              onClick={() => onHold({ kind: "new", session })}
            >
              <IconPlus size={15} />
            </ActionIcon>
          )}
        </div>
        {holds.map((booking) => (
          <div key={booking.id} className="tee-line tee-hold">
            <span className="ellipsis">
              {called(booking)}
              {booking.partySize > 1 && ` × ${booking.partySize}`} ·{" "}
              <Countdown until={booking.holdExpireTime} />
            </span>
            {can("booking.confirm_any") && (
              <Button
                size="compact-xs"
                variant="light"
                aria-label={`${d.hold.confirm}: ${called(booking)}`}
                onClick={() => onHold({ kind: "held", booking, session })}
              >
                {d.hold.confirm}
              </Button>
            )}
          </div>
        ))}
        {items.length > 0 && (
          <div className="muted ellipsis" style={{ fontSize: 12 }}>
            {items.join(", ")}
          </div>
        )}
      </div>
    </article>
  );
}
