import {
  type Booking,
  BookingService,
  BookingStatus,
  CheckInService,
  CreditService,
  ErrorReason,
  type Member,
  type Session,
  SessionService,
  SessionState,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  ActionIcon,
  Alert,
  Button,
  Checkbox,
  Drawer,
  Menu,
  Modal,
  NumberInput,
  Switch,
} from "@mantine/core";
import {
  IconArrowLeft,
  IconCheck,
  IconDeviceTv,
  IconDots,
  IconPencil,
  IconPlus,
  IconUserCheck,
} from "@tabler/icons-react";
import { type CSSProperties, useState } from "react";
import { Link, useParams } from "react-router";
import { useSpeech, useText } from "../../i18n";
import { ask } from "../../shared/ask";
import { useDo } from "../../shared/calls";
import { explain } from "../../shared/errors";
import { useCan } from "../../shared/root";
import { millis } from "../../shared/time";
import { Card, Face, PageHead, Shown, State, Tag, Time, type Tone } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { MemberPicker } from "../picker";
import { zoneNote } from "../schedule/page";
import { EditSession } from "../schedule/session-form";
import { SessionWaitlist } from "../waitlist";

/** Others work on the same list. Events tell of that; this is for those that are missed. */
const every = 60_000;

export function SessionPage() {
  const { id = "" } = useParams();
  const catalog = useCatalog();
  const session = useQuery(
    SessionService.method.getSession,
    { sessionId: id },
    { refetchInterval: every },
  );
  return (
    <div className="page">
      <Shown of={session}>
        {({ session: found }) =>
          found && <Shown of={catalog}>{(all) => <Details session={found} catalog={all} />}</Shown>
        }
      </Shown>
    </div>
  );
}

function stateOf(session: Session, t: ReturnType<typeof useText>): [Tone, string] {
  const now = Date.now();
  if (session.state === SessionState.CANCELLED) return ["bad", t.sessionState.cancelled];
  if (session.state === SessionState.DRAFT) return ["warn", t.sessionState.draft];
  if (millis(session.endTime) < now) return ["", t.sessionState.over];
  if (session.blocked) return ["warn", t.sessionState.blocked];
  if (millis(session.startTime) < now) return ["accent", t.sessionState.running];
  return ["good", t.sessionState.published];
}

function Details({ session, catalog }: { session: Session; catalog: Catalog }) {
  const t = useText();
  const { locale } = useSpeech();
  const can = useCan();
  const [inactive, setInactive] = useState(false);
  const [editing, setEditing] = useState(false);
  const [booking, setBooking] = useState(false);
  const roster = useQuery(
    BookingService.method.listRoster,
    { sessionId: session.id, includeInactive: inactive },
    { refetchInterval: every, placeholderData: (before) => before },
  );
  const zone = session.timeZone;
  const [tone, state] = stateOf(session, t);
  const active = (roster.data?.bookings ?? []).filter(
    ({ status }) => status === BookingStatus.CONFIRMED || status === BookingStatus.ATTENDED,
  );
  const seats = (list: readonly Booking[]) =>
    list.reduce((sum, { partySize }) => sum + partySize, 0);
  const came = seats(active.filter(({ status }) => status === BookingStatus.ATTENDED));
  const over = session.state === SessionState.CANCELLED;
  const bookable = can("booking.create_for_others") && session.state === SessionState.PUBLISHED;
  const place = catalog.location(session.locationId);
  return (
    <>
      <Link
        to="/"
        className="muted"
        style={{
          display: "inline-flex",
          gap: 5,
          alignItems: "center",
          fontSize: 13,
          textDecoration: "none",
          marginBottom: 10,
        }}
      >
        <IconArrowLeft size={15} aria-hidden /> {t.nav.schedule}
      </Link>
      <PageHead
        title={
          <span style={{ display: "inline-flex", gap: 12, alignItems: "center", flexWrap: "wrap" }}>
            {session.title} <Tag tone={tone}>{state}</Tag>
          </span>
        }
        note={
          <>
            <Time at={session.startTime} zone={zone} as="longDay" />,{" "}
            <Time at={session.startTime} zone={zone} as="time" />–
            <Time at={session.endTime} zone={zone} as="time" />
            {" · "}
            {[
              place?.name,
              catalog.resource(session.resourceId)?.name,
              catalog.coach(session.coachId)?.name,
            ]
              .filter(Boolean)
              .join(" · ")}
          </>
        }
      >
        {can("checkin.display") && !over && <DisplayButton session={session} />}
        {can("session.update") && !over && (
          <Button
            variant="default"
            leftSection={<IconPencil size={16} />}
            onClick={() => setEditing(true)}
          >
            {t.actions.edit}
          </Button>
        )}
        <Acts session={session} />
        {bookable && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setBooking(true)}>
            {t.session.book}
          </Button>
        )}
      </PageHead>
      {session.stateReason && (
        <Alert color={over ? "red" : "yellow"} mb="md">
          {session.stateReason}
        </Alert>
      )}
      <div className="split">
        <div className="stack">
          <Card
            bare
            title={
              <>
                {t.session.roster}{" "}
                {active.length > 0 && (
                  <span className="muted num" style={{ fontWeight: 450 }}>
                    {t.session.arrived(came, seats(active))}
                  </span>
                )}
              </>
            }
            extra={
              <Switch
                size="xs"
                label={t.session.inactive}
                checked={inactive}
                onChange={(event) => setInactive(event.currentTarget.checked)}
              />
            }
          >
            <Shown of={roster}>
              {({ bookings }) =>
                bookings.length === 0 ? (
                  <State title={t.session.empty}>{!over && t.session.emptyNote}</State>
                ) : (
                  <Roster bookings={bookings} session={session} />
                )
              }
            </Shown>
          </Card>
        </div>
        <div className="stack">
          <Card title={t.session.details}>
            <dl className="facts">
              <dt>{t.session.seats}</dt>
              <dd>
                <Seats session={session} />
              </dd>
              <dt>{t.fields.service}</dt>
              <dd>{catalog.service(session.serviceId)?.name}</dd>
              <dt>{t.fields.location}</dt>
              <dd>
                {place?.name}
                {place?.address && <div className="muted">{place.address}</div>}
              </dd>
              <dt>{t.fields.timeZone}</dt>
              <dd className="muted">{zoneNote(zone, locale, t)}</dd>
              {session.seriesId && (
                <>
                  <dt />
                  <dd className="muted">{t.session.partOfSeries}</dd>
                </>
              )}
            </dl>
            {session.description && (
              <p style={{ margin: "14px 0 0", fontSize: 13, whiteSpace: "pre-wrap" }}>
                {session.description}
              </p>
            )}
          </Card>
          {can("waitlist.read") && <SessionWaitlist session={session} />}
        </div>
      </div>
      <Drawer opened={editing} onClose={() => setEditing(false)} title={t.actions.edit}>
        {editing && (
          <EditSession session={session} catalog={catalog} onClose={() => setEditing(false)} />
        )}
      </Drawer>
      <Modal opened={booking} onClose={() => setBooking(false)} title={t.session.book}>
        {booking && (
          <BookFor session={session} catalog={catalog} onClose={() => setBooking(false)} />
        )}
      </Modal>
    </>
  );
}

export function Seats({ session }: { session: Session }) {
  const t = useText();
  const { capacity, seatsTaken, seatsOpen = 0 } = session;
  if (capacity === undefined)
    return (
      <span className="num">
        {seatsTaken} · {t.session.noLimit}
      </span>
    );
  const style = {
    "--part": `${capacity === 0 ? 100 : Math.min(100, (seatsTaken / capacity) * 100)}%`,
  };
  return (
    <span className="seats">
      <i style={style as CSSProperties} aria-hidden />
      <span {...(seatsOpen === 0 && { style: { color: "var(--bad)", fontWeight: 560 } })}>
        {t.session.ofSeats(seatsTaken, capacity)}
      </span>
    </span>
  );
}

const tones: Partial<Record<BookingStatus, Tone>> = {
  [BookingStatus.CONFIRMED]: "accent",
  [BookingStatus.ATTENDED]: "good",
  [BookingStatus.NO_SHOW]: "bad",
  [BookingStatus.PENDING]: "warn",
};

export function BookingTag({ booking }: { booking: Booking }) {
  const t = useText();
  return <Tag tone={tones[booking.status] ?? ""}>{t.bookingStatus[booking.status]}</Tag>;
}

function Roster({ bookings, session }: { bookings: readonly Booking[]; session: Session }) {
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
                <BookingTag booking={booking} />
              </td>
              <td className="right" style={{ width: 1, whiteSpace: "nowrap" }}>
                <BookingActs booking={booking} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Person({ id, name, children }: { id: string; name: string; children?: React.ReactNode }) {
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

function BookingActs({ booking }: { booking: Booking }) {
  const t = useText();
  const can = useCan();
  const checkIn = useDo(CheckInService.method.checkIn, {
    done: ({ alreadyCheckedIn }) => (alreadyCheckedIn ? t.session.alreadyIn : undefined),
  });
  const undo = useDo(CheckInService.method.undoCheckIn);
  const noShow = useDo(BookingService.method.markNoShow);
  const undoNoShow = useDo(BookingService.method.undoNoShow);
  const cancel = useDo(BookingService.method.adminCancelBooking, {
    done: ({ creditRefunded, promoted }) => t.session.cancelled(creditRefunded, promoted),
  });
  const refund = useDo(CreditService.method.refundCredit, { done: t.session.refunded });
  const { id: bookingId, status, memberName } = booking;
  const confirmed = status === BookingStatus.CONFIRMED;
  const started = millis(booking.sessionStartTime) < Date.now();
  const items = [
    status === BookingStatus.ATTENDED &&
      can("checkin.staff") && { label: t.session.undoCheckIn, run: () => undo.run({ bookingId }) },
    confirmed &&
      started &&
      can("booking.no_show") && { label: t.session.noShow, run: () => noShow.run({ bookingId }) },
    status === BookingStatus.NO_SHOW &&
      can("booking.no_show") && {
        label: t.session.undoNoShow,
        run: () => undoNoShow.run({ bookingId }),
      },
    booking.credits > 0 &&
      can("credit.refund") && { label: t.session.refund, run: () => refund.run({ bookingId }) },
    (confirmed || status === BookingStatus.PENDING) &&
      can("booking.cancel_any") && {
        label: t.session.cancelBooking,
        danger: true,
        run: async () => {
          const answer = await ask({
            title: t.session.cancelTitle(memberName),
            body: t.session.cancelBody,
            yes: t.session.cancelBooking,
            reason: t.fields.reason,
            danger: true,
          });
          if (answer) await cancel.run({ bookingId, reason: answer.reason });
        },
      },
  ].filter((item) => item !== false);
  return (
    <span style={{ display: "inline-flex", gap: 4, alignItems: "center" }}>
      {confirmed && can("checkin.staff") && (
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<IconUserCheck size={15} aria-hidden />}
          loading={checkIn.busy}
          onClick={() => void checkIn.run({ bookingId })}
          aria-label={`${t.session.checkIn}: ${memberName}`}
        >
          {t.session.checkIn}
        </Button>
      )}
      {items.length > 0 && (
        <Menu>
          <Menu.Target>
            <ActionIcon aria-label={`${t.actions.actions}: ${memberName}`}>
              <IconDots size={17} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {items.map((item) => (
              <Menu.Item
                key={item.label}
                {...("danger" in item && { c: "var(--bad)" })}
                onClick={() => void item.run()}
              >
                {item.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </span>
  );
}

function DisplayButton({ session }: { session: Session }) {
  const t = useText();
  const make = useDo(CheckInService.method.createDisplayUrl);
  return (
    <Button
      variant="default"
      title={t.session.displayNote}
      leftSection={<IconDeviceTv size={16} />}
      loading={make.busy}
      onClick={async () => {
        // Opened before the answer, or browsers would take it for an advertisement.
        const page = window.open("about:blank", "_blank");
        const answer = await make.run({ sessionId: session.id });
        const address = answer && new URL(answer.url);
        if (page && address)
          page.location.href = address.pathname.startsWith("/display")
            ? address.pathname
            : answer.url;
        else page?.close();
      }}
    >
      {t.session.display}
    </Button>
  );
}

/** What can be done with the session as a whole. */
function Acts({ session }: { session: Session }) {
  const t = useText();
  const can = useCan();
  const publish = useDo(SessionService.method.publishSession, { done: t.session.published });
  const unpublish = useDo(SessionService.method.unpublishSession);
  const block = useDo(SessionService.method.blockSession);
  const unblock = useDo(SessionService.method.unblockSession);
  const cancel = useDo(SessionService.method.cancelSession, {
    done: ({ bookingsCancelled, creditsRefunded }) =>
      t.session.calledOff(bookingsCancelled, creditsRefunded),
  });
  const { id: sessionId, etag, state } = session;
  if (state === SessionState.CANCELLED) return null;
  const draft = state === SessionState.DRAFT;
  const rest = [
    !draft &&
      can("session.publish") && {
        label: t.session.unpublish,
        run: () => unpublish.run({ sessionId, etag }),
      },
    !draft &&
      can("session.block") &&
      (session.blocked
        ? { label: t.session.unblock, run: () => unblock.run({ sessionId }) }
        : {
            label: t.session.block,
            run: async () => {
              const answer = await ask({
                title: t.session.blockTitle,
                body: t.session.blockBody,
                yes: t.session.block,
                reason: t.fields.reason,
              });
              if (answer) await block.run({ sessionId, reason: answer.reason });
            },
          }),
    can("session.cancel") && {
      label: t.session.cancel,
      danger: true,
      run: async () => {
        const answer = await ask({
          title: t.session.cancelSessionTitle(session.title),
          body: t.session.cancelSessionBody(session.seatsTaken),
          yes: t.session.cancel,
          reason: t.fields.reason,
          danger: true,
        });
        if (answer) await cancel.run({ sessionId, reason: answer.reason });
      },
    },
  ].filter((item) => item !== false);
  return (
    <>
      {draft && can("session.publish") && (
        <Button
          variant="light"
          leftSection={<IconCheck size={16} />}
          loading={publish.busy}
          onClick={() => void publish.run({ sessionId, etag })}
        >
          {t.session.publish}
        </Button>
      )}
      {rest.length > 0 && (
        <Menu>
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={t.actions.actions}>
              <IconDots size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {rest.map((item) => (
              <Menu.Item
                key={item.label}
                {...("danger" in item && { c: "var(--bad)" })}
                onClick={() => void item.run()}
              >
                {item.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

function BookFor({
  session,
  catalog,
  onClose,
}: {
  session: Session;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const service = catalog.service(session.serviceId);
  const [member, setMember] = useState<Member>();
  const [party, setParty] = useState(Math.max(1, service?.minParty ?? 1));
  const [wait, setWait] = useState(true);
  const [error, setError] = useState<unknown>();
  const book = useDo(BookingService.method.book, {
    quiet: true,
    done: ({ outcome }) =>
      outcome.case === "entry"
        ? t.session.queued(outcome.value.memberName, outcome.value.position)
        : outcome.value && t.session.booked(outcome.value.memberName),
  });
  const most = service?.maxParty || service?.minParty || 1;
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        if (!member) return;
        setError(undefined);
        try {
          await book.run({
            sessionId: session.id,
            memberId: member.id,
            partySize: party,
            noWaitlist: !wait,
          });
          onClose();
        } catch (thrown) {
          setError(thrown);
        }
      }}
    >
      <MemberPicker label={t.session.bookFor} value={member} onChange={setMember} autoFocus />
      {most > 1 && (
        <NumberInput
          label={t.session.party}
          min={service?.minParty ?? 1}
          max={most}
          value={party}
          onChange={(value) => setParty(Number(value) || 1)}
        />
      )}
      {session.seatsOpen === 0 && session.waitlistCapacity > 0 && (
        <Checkbox
          label={t.app.join}
          checked={wait}
          onChange={(event) => setWait(event.currentTarget.checked)}
        />
      )}
      {error !== undefined && (
        <Alert color="red">{explain(error, t, locale, session.timeZone) || ErrorReason[0]}</Alert>
      )}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={book.busy} disabled={!member}>
          {t.app.book}
        </Button>
      </div>
    </form>
  );
}
