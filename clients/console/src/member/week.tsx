import {
  BookingService,
  BookingStatus,
  EligibilityStatus,
  type Service,
  type Session,
  SessionService,
  SessionState,
  TenantService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Modal, NativeSelect, Skeleton } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { type CSSProperties, lazy, Suspense, useEffect, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { useI18n, useText } from "../i18n";
import { useAll } from "../shared/all";
import { named } from "../shared/form";
import { useLast } from "../shared/last";
import { useMe } from "../shared/me";
import {
  DAY,
  here,
  millis,
  sameClock,
  showDay,
  showSpan,
  startOf,
  today,
  zoned,
  zoneName,
} from "../shared/time";
import { Shown, State, Tag, Time } from "../shared/ui";
import { useCancelBooking } from "./cancel";
import { Heading } from "./heading";

// The week does not need the dialog. Load it right away, so that it is there if the connection is
// lost later.
const loadDialog = () => import("./book");
const BookForm = lazy(async () => ({ default: (await loadDialog()).BookForm }));

/**
 * In ms. Members get no events about other members' bookings, so the week is polled while it is
 * visible. Unchanged answers are not sent again.
 */
const pollInterval = 5_000;

/** How many days can be shown. */
const daysShown = 14;

export function WeekPage() {
  const t = useText();
  const { locale } = useI18n();
  const { tenant, member } = useMe();
  const [params, setParams] = useSearchParams();
  const locations = useAll(TenantService.method.listLocations, {}, (answer) => answer.locations, {
    staleTime: 60_000,
  });
  const services = useAll(
    TenantService.method.listServices,
    { includeInactive: true },
    (answer) => answer.services,
    { staleTime: 60_000 },
  );
  const [remembered, remember] = useLocalStorage({
    key: "berth.member.location",
    defaultValue: "",
  });
  const places = locations.data ?? [];
  const place = places.find(({ id }) => id === remembered) ?? places[0];
  const zone = place?.timeZone ?? tenant.timeZone;
  const first = today(zone);
  const wanted = params.get("date") ?? "";
  const days = Array.from({ length: daysShown }, (_, at) => first.add({ days: at }));
  const day = days.find((one) => one.toString() === wanted) ?? first;
  const start = millis(startOf(first, zone));
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: {
          start: timestampFromMs(start),
          end: timestampFromMs(start + (daysShown + 1) * DAY),
        },
        locationIds: place ? [place.id] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions,
    {
      keep: true,
      refetchInterval: pollInterval,
      refetchOnWindowFocus: "always",
      enabled: Boolean(place),
    },
  );
  const dayIn = (session: Session) =>
    session.startTime ? zoned(session.startTime, zone).toPlainDate().toString() : "";
  const mine = new Set((sessions.data ?? []).filter(isMine).map(dayIn));
  const bookings = useQuery(BookingService.method.listMyBookings, { pageSize: 100 });
  const held = new Set(
    bookings.data?.bookings
      .filter(({ status }) => status === BookingStatus.PENDING)
      .map(({ id }) => id),
  );
  useEffect(() => void loadDialog(), []);
  const strip = useRef<HTMLElement>(null);
  const shownDay = day.toString();
  // On phones, days may not fit: scroll to the selected one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another day is shown
  useEffect(() => {
    strip.current
      ?.querySelector('[aria-pressed="true"]')
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [shownDay]);
  const [chosen, setChosen] = useState<Session>();
  const [last, turn] = useLast(chosen);
  const open = sessions.data?.find(({ id }) => id === last?.id) ?? last;
  return (
    <>
      <div className="m-head">
        <Heading tab={t.app.week}>{t.app.hello(member.name.split(" ")[0] ?? member.name)}</Heading>
        {places.length > 1 && (
          <NativeSelect
            w={180}
            aria-label={t.app.location}
            value={place?.id ?? ""}
            onChange={(event) => remember(event.currentTarget.value)}
            data={named(places)}
          />
        )}
      </div>
      <nav className="days" aria-label={t.fields.date} ref={strip}>
        {days.map((one) => {
          const key = one.toString();
          return (
            <button
              key={key}
              type="button"
              className={mine.has(key) ? "mine" : ""}
              aria-pressed={one.equals(day)}
              onClick={() => setParams({ date: key }, { replace: true })}
            >
              {showDay(one, locale, "weekday")} <b>{one.day}</b>{" "}
              <span className="sr">{showDay(one, locale, "month")}</span>
              <i />
            </button>
          );
        })}
      </nav>
      <div
        style={{
          display: "flex",
          flexWrap: "wrap",
          justifyContent: "space-between",
          gap: "0 12px",
          marginBottom: 10,
          fontSize: 13,
        }}
      >
        <strong style={{ fontWeight: 600 }}>{showDay(day, locale, "longDay")}</strong>
        <span className="muted">
          {sameClock(zone, here())
            ? zoneName(zone, locale)
            : t.schedule.otherZone(
                zone.replaceAll("_", " "),
                zoneName(zone, locale),
                zoneName(here(), locale),
              )}
        </span>
      </div>
      <Shown of={sessions} skeleton={<Skeleton height={320} radius="lg" />}>
        {(all) => {
          const shown = all.filter(
            (session) => dayIn(session) === day.toString() && millis(session.endTime) > Date.now(),
          );
          return (
            <div className="card">
              {shown.length === 0 ? (
                <State title={t.app.none}>{t.app.noneNote}</State>
              ) : (
                shown.map((session) => (
                  <Offer
                    key={session.id}
                    session={session}
                    service={services.data?.find(({ id }) => id === session.serviceId)}
                    held={held.has(session.eligibility?.bookingId ?? "")}
                    onChoose={() => setChosen(session)}
                  />
                ))
              )}
            </div>
          );
        }}
      </Shown>
      <Modal
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        title={open?.title ?? ""}
      >
        {open && (
          <Suspense fallback={<Skeleton height={180} />}>
            <BookForm
              key={turn}
              session={open}
              service={services.data?.find(({ id }) => id === open.serviceId)}
              place={place}
              onClose={() => setChosen(undefined)}
            />
          </Suspense>
        )}
      </Modal>
      <p style={{ textAlign: "center", marginTop: 18 }}>
        <Button component={Link} to="/wait" variant="subtle">
          {t.app.timeWindow}
        </Button>
      </p>
    </>
  );
}

const isMine = ({ eligibility }: Session) =>
  eligibility?.status === EligibilityStatus.BOOKED ||
  eligibility?.status === EligibilityStatus.WAITLISTED;

/** Below this, the number of open seats is shown. */
const fewSeats = 5;

function Offer({
  session,
  service,
  held,
  onChoose,
}: {
  session: Session;
  service: Service | undefined;
  /** The member's seat is held, not booked. */
  held: boolean;
  onChoose: () => void;
}) {
  const t = useText();
  const { locale } = useI18n();
  const cancelBooking = useCancelBooking();
  const { eligibility, timeZone: zone, seatsOpen } = session;
  const length = millis(session.endTime) - millis(session.startTime);
  const status = eligibility?.status;
  const reason = eligibility?.reason ?? "";
  const opens = eligibility?.metadata.opens_at;
  const why =
    status === EligibilityStatus.BLOCKED
      ? reason === "ADVANCE_WINDOW" && opens
        ? t.app.opensAt(
            new Intl.DateTimeFormat(locale, {
              weekday: "short",
              day: "numeric",
              month: "short",
              hour: "2-digit",
              minute: "2-digit",
              timeZone: zone,
            }).format(Date.parse(opens)),
          )
        : (t.reasons[reason]?.(eligibility?.metadata ?? {}) ?? eligibility?.message)
      : undefined;
  return (
    <article
      className="offer"
      style={{ "--c": service?.color || undefined } as CSSProperties}
      aria-label={session.title}
    >
      <div>
        <Time at={session.startTime} zone={zone} as="time" />
        <div className="sub">{showSpan(length)}</div>
      </div>
      <div style={{ minWidth: 0 }}>
        <div className="title">
          <span className="ellipsis">{session.title}</span>
        </div>
        {session.coachName && <div className="sub ellipsis">{session.coachName}</div>}
        <div className="sub">
          {seatsOpen === undefined || seatsOpen > fewSeats
            ? t.app.plenty
            : seatsOpen > 0
              ? t.app.open(seatsOpen)
              : `${t.app.full}${session.waitlistLength > 0 ? ` · ${t.schedule.waiting(session.waitlistLength)}` : ""}`}
        </div>
      </div>
      {status === EligibilityStatus.ELIGIBLE && (
        <Button onClick={onChoose} aria-label={`${t.app.book}: ${session.title}`}>
          {t.app.book}
        </Button>
      )}
      {status === EligibilityStatus.WAITLIST && (
        <Button variant="light" onClick={onChoose} aria-label={`${t.app.join}: ${session.title}`}>
          {t.app.join}
        </Button>
      )}
      {held && (
        <Button
          component={Link}
          to="/bookings"
          variant="light"
          aria-label={`${t.app.held}: ${session.title}`}
        >
          {t.app.held}
        </Button>
      )}
      {status === EligibilityStatus.BOOKED && !held && (
        <button
          type="button"
          style={plain}
          onClick={() => void cancelBooking(eligibility?.bookingId ?? "")}
          aria-label={`${t.app.cancel}: ${session.title}`}
        >
          <Tag tone="good">{t.app.booked}</Tag>
        </button>
      )}
      {status === EligibilityStatus.WAITLISTED && (
        <Tag tone="warn">{t.app.waitlisted(eligibility?.waitlistPosition ?? 0)}</Tag>
      )}
      {why && (
        <p className="why" style={{ margin: 0 }}>
          {why}
        </p>
      )}
    </article>
  );
}

const plain: CSSProperties = {
  background: "none",
  border: 0,
  padding: 4,
  font: "inherit",
  cursor: "pointer",
};
