import {
  type Booking,
  BookingService,
  BookingStatus,
  OfferStatus,
  type Session,
  SessionService,
  SessionState,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Drawer, Modal, Switch } from "@mantine/core";
import { IconHourglass, IconPencil, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useParams } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan } from "../../shared/me";
import { millis } from "../../shared/time";
import { useTitle } from "../../shared/title";
import { Card, PageHead, Shown, State, Tag, Time, type Tone } from "../../shared/ui";
import { Back } from "../back";
import { type Held, HoldDrawer } from "../bookings/hold";
import { type Catalog, dayOf, useCatalog } from "../data";
import { EditSession } from "../schedule/edit-session";
import { zoneNote } from "../schedule/zone";
import { SessionWaitlist } from "../waitlist/session";
import { SessionWorkouts } from "../workouts/session";
import { DisplayButton, SessionActions } from "./actions";
import { BookMember } from "./book";
import { Roster } from "./roster";
import { Seats } from "./seats";

/** In ms. Events tell of changes by other users; this covers missed events. */
const every = 60_000;

export function SessionPage() {
  const t = useText();
  const { id = "" } = useParams();
  const catalog = useCatalog();
  const session = useQuery(
    SessionService.method.getSession,
    { sessionId: id },
    { refetchInterval: every },
  );
  useTitle(session.data?.session?.title ?? t.nav.schedule);
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

const hasSeats = ({ status }: Booking): boolean =>
  status === BookingStatus.PENDING ||
  status === BookingStatus.CONFIRMED ||
  status === BookingStatus.ATTENDED;

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
  const d = useDesk();
  const { locale } = useI18n();
  const can = useCan();
  const [inactive, setInactive] = useState(false);
  const [editing, setEditing] = useState(false);
  const [booking, setBooking] = useState(false);
  const [held, setHeld] = useState<Held>();
  const roster = useQuery(
    BookingService.method.listRoster,
    { sessionId: session.id, includeInactive: inactive },
    { refetchInterval: every, placeholderData: (before) => before },
  );
  const story = useQuery(
    WaitlistService.method.explainSession,
    { sessionId: session.id },
    { enabled: can("waitlist.read") },
  );
  const zone = session.timeZone;
  const [tone, state] = stateOf(session, t);
  const active = (roster.data?.bookings ?? []).filter(
    ({ status }) => status === BookingStatus.CONFIRMED || status === BookingStatus.ATTENDED,
  );
  const seats = (list: readonly Booking[]) =>
    list.reduce((sum, { partySize }) => sum + partySize, 0);
  const came = seats(active.filter(({ status }) => status === BookingStatus.ATTENDED));
  // Seats that live offers keep count as taken, but have no booking yet.
  const kept = story.data?.offers.some(({ status }) => status === OfferStatus.LIVE)
    ? session.seatsTaken - seats((roster.data?.bookings ?? []).filter(hasSeats))
    : 0;
  const over = session.state === SessionState.CANCELLED;
  const coming = millis(session.startTime) > Date.now();
  const open = session.state === SessionState.PUBLISHED && coming;
  const bookable = can("booking.create_for_others") && open;
  const holdable = can("booking.hold_for_others") && open && session.seatsOpen !== 0;
  const place = catalog.location(session.locationId);
  return (
    <>
      <Back to={`/?date=${dayOf(session)}`} label={t.nav.schedule} />
      <PageHead
        title={session.title}
        tags={<Tag tone={tone}>{state}</Tag>}
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
        {holdable && (
          <Button
            variant="default"
            leftSection={<IconHourglass size={16} />}
            onClick={() => setHeld({ kind: "new", session })}
          >
            {d.hold.title}
          </Button>
        )}
        <SessionActions session={session} />
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
                  <Roster
                    bookings={bookings}
                    session={session}
                    onConfirm={(one) => setHeld({ kind: "held", booking: one, session })}
                  />
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
                {kept > 0 && <div className="muted">{t.session.kept(kept)}</div>}
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
          {can("workout.read") && <SessionWorkouts session={session} />}
        </div>
      </div>
      <Drawer opened={editing} onClose={() => setEditing(false)} title={t.actions.edit}>
        {editing && (
          <EditSession session={session} catalog={catalog} onClose={() => setEditing(false)} />
        )}
      </Drawer>
      <HoldDrawer held={held} catalog={catalog} onChange={setHeld} />
      <Modal opened={booking} onClose={() => setBooking(false)} title={t.session.book}>
        {booking && (
          <BookMember session={session} catalog={catalog} onClose={() => setBooking(false)} />
        )}
      </Modal>
    </>
  );
}
