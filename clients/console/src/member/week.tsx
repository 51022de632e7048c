import {
  BookingService,
  CreditService,
  EligibilityStatus,
  ErrorReason,
  type Location,
  type Service,
  type Session,
  SessionService,
  SessionState,
  TenantService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Modal, NumberInput, Select, Skeleton } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { type CSSProperties, useState } from "react";
import { useSearchParams } from "react-router";
import { useSpeech, useText } from "../i18n";
import { useAll } from "../shared/all";
import { useDo } from "../shared/calls";
import { explain, reasonOf } from "../shared/errors";
import { useMe } from "../shared/root";
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
import { useGiveUp } from "./giveup";

/** So many days can be looked through. */
const span = 14;

export function WeekPage() {
  const t = useText();
  const { locale } = useSpeech();
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
  const [kept, keep] = useLocalStorage({ key: "berth.member.location", defaultValue: "" });
  const places = locations.data ?? [];
  const place = places.find(({ id }) => id === kept) ?? places[0];
  const zone = place?.timeZone ?? tenant.timeZone;
  const first = today(zone);
  const wanted = params.get("date") ?? "";
  const days = Array.from({ length: span }, (_, at) => first.add({ days: at }));
  const day = days.find((one) => one.toString() === wanted) ?? first;
  const start = millis(startOf(first, zone));
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: {
          start: timestampFromMs(start),
          end: timestampFromMs(start + (span + 1) * DAY),
        },
        locationIds: place ? [place.id] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions,
    { keep: true, refetchInterval: 60_000, enabled: Boolean(place) },
  );
  const dayIn = (session: Session) =>
    session.startTime ? zoned(session.startTime, zone).toPlainDate().toString() : "";
  const mine = new Set((sessions.data ?? []).filter(isMine).map(dayIn));
  const [chosen, setChosen] = useState<Session>();
  const open = sessions.data?.find(({ id }) => id === chosen?.id) ?? chosen;
  return (
    <>
      <div
        style={{
          display: "flex",
          flexWrap: "wrap",
          alignItems: "end",
          justifyContent: "space-between",
          gap: 10,
          marginBottom: 14,
        }}
      >
        <h1 style={{ margin: 0 }}>{t.app.hello(member.name.split(" ")[0] ?? member.name)}</h1>
        {places.length > 1 && (
          <Select
            w={180}
            aria-label={t.app.location}
            allowDeselect={false}
            value={place?.id ?? null}
            onChange={(id) => keep(id ?? "")}
            data={places.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
      </div>
      <nav className="days" aria-label={t.fields.date}>
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
          justifyContent: "space-between",
          gap: 12,
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
          <BookForm
            session={open}
            service={services.data?.find(({ id }) => id === open.serviceId)}
            place={place}
            onClose={() => setChosen(undefined)}
          />
        )}
      </Modal>
    </>
  );
}

const isMine = ({ eligibility }: Session) =>
  eligibility?.status === EligibilityStatus.BOOKED ||
  eligibility?.status === EligibilityStatus.WAITLISTED;

/** Fewer than this, and it is said how many. */
const fewSeats = 5;

function Offer({
  session,
  service,
  onChoose,
}: {
  session: Session;
  service: Service | undefined;
  onChoose: () => void;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const giveUp = useGiveUp();
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
      {status === EligibilityStatus.BOOKED && (
        <button
          type="button"
          style={plain}
          onClick={() => void giveUp(eligibility?.bookingId ?? "")}
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

function BookForm({
  session,
  service,
  place,
  onClose,
}: {
  session: Session;
  service: Service | undefined;
  place: Location | undefined;
  onClose: () => void;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const [party, setParty] = useState(Math.max(1, service?.minParty ?? 1));
  const [plan, setPlan] = useState<string | null>(null);
  const [error, setError] = useState<unknown>();
  const balance = useQuery(CreditService.method.getBalance, {});
  const book = useDo(BookingService.method.book, { quiet: true });
  const active = (balance.data?.subscriptions ?? []).filter(({ status }) => status === 1);
  const most = service?.maxParty || service?.minParty || 1;
  const waits = session.eligibility?.status === EligibilityStatus.WAITLIST;
  const choose =
    active.length > 1 ||
    (error !== undefined && reasonOf(error) === ErrorReason.PLAN_CHOICE_REQUIRED);
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        setError(undefined);
        try {
          const answer = await book.run({
            sessionId: session.id,
            partySize: party,
            subscriptionId: plan ?? "",
          });
          if (answer?.outcome.case === "entry") {
            notifications.show({ message: t.app.queuedNow(answer.outcome.value.position) });
          } else notifications.show({ message: t.app.bookedNow(session.title) });
          onClose();
        } catch (thrown) {
          setError(thrown);
        }
      }}
    >
      <p style={{ margin: 0 }}>
        <strong style={{ fontWeight: 600 }}>
          <Time at={session.startTime} zone={session.timeZone} as="longDay" />,{" "}
          <Time at={session.startTime} zone={session.timeZone} as="time" />
        </strong>
        <br />
        <span className="muted">
          {place?.name}
          {place?.address && `, ${place.address}`} · {zoneName(session.timeZone, locale)}
        </span>
      </p>
      {(session.description || service?.description) && (
        <p style={{ margin: 0, whiteSpace: "pre-wrap" }}>
          {session.description || service?.description}
        </p>
      )}
      {most > 1 && (
        <NumberInput
          label={t.app.party}
          min={service?.minParty ?? 1}
          max={most}
          value={party}
          onChange={(value) => setParty(Number(value) || 1)}
        />
      )}
      {choose && (
        <Select
          label={t.app.plan}
          required
          value={plan}
          onChange={setPlan}
          data={active.map(({ id, planName, balance: left, planKind }) => ({
            value: id,
            label: planKind === 2 ? `${planName} (${t.app.credit(left)})` : planName,
          }))}
        />
      )}
      {error !== undefined && (
        <Alert color="red">{explain(error, t, locale, session.timeZone)}</Alert>
      )}
      <Button type="submit" size="md" fullWidth loading={book.busy} data-autofocus>
        {waits ? t.app.join : t.app.book}
      </Button>
    </form>
  );
}
