import {
  BookingStatus,
  CheckInService,
  type Session,
  SessionService,
  SessionStatus,
  WaitlistOfferStatus,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Box, Button, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheck, IconDeviceTv, IconHourglass, IconPencil, IconPlus } from "@tabler/icons-react";
import { Fragment, useState } from "react";
import { useNavigate } from "react-router";
import { useCall } from "../../../shared/api/calls";
import { useCan } from "../../../shared/auth/user";
import { millis, Temporal } from "../../../shared/format/time";
import { useI18n, useText } from "../../../shared/i18n";
import { Card, PageHead, QueryResult, Tag, Time, type Tone } from "../../../shared/ui";
import { later } from "../../../shared/ui/lazy";
import { Drawer } from "../../../shared/ui/overlays";
import { useTitle } from "../../../shared/ui/title";
import type { Held } from "../../bookings/hold";
import { HoldDrawer } from "../../bookings/hold-drawer";
import { Roster, seatsIn, useRoster } from "../../bookings/roster";
import { bookingTexts } from "../../bookings/texts";
import { useCatalog, WithCatalog } from "../../catalog/loaded";
import { routes } from "../../routes";
import {
  type Action,
  ActionsMenu,
  Back,
  DialogButton,
  Dimmed,
  dotted,
  Facts,
  Page,
  Share,
  Split,
} from "../../ui";
import { dayOf } from "../../ui/sessions";
import text from "../../ui/text.module.css";
import { uiTexts } from "../../ui/texts";
import { SessionWaitlist } from "../../waitlists/session";
import { zoneNote } from "../data";
import { type ScheduleTexts, scheduleTexts } from "../texts";
import { SessionWorkouts } from "../workouts/session";

const BookMember = later(() => import("../../bookings/book"), "BookMember");
const DisplayLinks = later(() => import("./displays"), "DisplayLinks");
const EditSession = later(() => import("../edit-session"), "EditSession");

export function SessionPage() {
  const t = useText();
  const can = useCan();
  const { id } = routes.session.useParams();
  const query = useQuery(
    SessionService.method.getSession,
    { sessionId: id },
    { refetchInterval: 60_000 }, // events tell of changes by other users; this covers missed ones
  );
  const [held, setHeld] = useState<Held>();
  useTitle(query.data?.session?.title ?? t.nav.schedule);
  return (
    <Page>
      <QueryResult query={query}>
        {({ session }) =>
          session && (
            <WithCatalog>
              <Head session={session} onHold={() => setHeld({ session })} />
              <Split>
                <Roster session={session} onConfirm={(booking) => setHeld({ session, booking })} />
                <Stack gap={18}>
                  <About session={session} />
                  {can("waitlist.read") && <SessionWaitlist session={session} />}
                  {can("workout.read") && <SessionWorkouts session={session} />}
                </Stack>
              </Split>
              <HoldDrawer held={held} onChange={setHeld} />
            </WithCatalog>
          )
        }
      </QueryResult>
    </Page>
  );
}

function stateOf(session: Session, t: ScheduleTexts): [Tone, string] {
  const now = Date.now();
  if (session.status === SessionStatus.CANCELLED) return ["bad", t.sessionState.cancelled];
  if (session.status === SessionStatus.DRAFT) return ["warn", t.sessionState.draft];
  if (millis(session.endTime) < now) return ["", t.sessionState.over];
  if (session.blocked) return ["warn", t.sessionState.blocked];
  if (millis(session.startTime) < now) return ["accent", t.sessionState.running];
  return ["good", t.sessionState.published];
}

interface HeadProps {
  session: Session;
  onHold: () => void;
}

/** Name, time and place, and what can be done. */
function Head({ session, onHold }: HeadProps) {
  const catalog = useCatalog();
  const t = useText(bookingTexts, scheduleTexts);
  const can = useCan();
  const zone = session.timeZone;
  const [tone, state] = stateOf(session, t);
  const over = session.status === SessionStatus.CANCELLED;
  const coming = millis(session.startTime) > Date.now();
  const open = session.status === SessionStatus.PUBLISHED && coming;
  const ended = millis(session.endTime) <= Date.now();
  const late = can(ended ? "booking.record_past" : "booking.after_start");
  const bookable =
    can("booking.create_for_others") &&
    session.status === SessionStatus.PUBLISHED &&
    (coming || late);
  const holdable = can("booking.hold_for_others") && open && session.seatsOpen !== 0;
  return (
    <>
      <Back
        to={routes.schedule.path({ date: Temporal.PlainDate.from(dayOf(session)) })}
        label={t.nav.schedule}
      />
      <PageHead
        title={session.title}
        tags={<Tag tone={tone}>{state}</Tag>}
        note={
          <>
            <Time at={session.startTime} zone={zone} as="longDay" />,{" "}
            <Time at={session.startTime} zone={zone} as="time" />–
            <Time at={session.endTime} zone={zone} as="time" />
            {" · "}
            {dotted(
              catalog.location(session.locationId)?.name,
              catalog.resource(session.resourceId)?.name,
              catalog.coach(session.coachId)?.name,
            )}
          </>
        }
      >
        {can("checkin.display") && !over && <DisplayButton session={session} />}
        {can("session.update") && !over && (
          <DialogButton variant="default" icon={IconPencil} label={t.actions.edit}>
            {(close) => <EditSession session={session} onClose={close} />}
          </DialogButton>
        )}
        {holdable && (
          <Button variant="default" leftSection={<IconHourglass size={16} />} onClick={onHold}>
            {t.hold.title}
          </Button>
        )}
        <SessionActions session={session} />
        {bookable && (
          <DialogButton modal icon={IconPlus} label={t.session.book}>
            {(close) => <BookMember session={session} onClose={close} />}
          </DialogButton>
        )}
      </PageHead>
      {session.statusReason && (
        <Alert color={over ? "red" : "yellow"} mb="md">
          {session.statusReason}
        </Alert>
      )}
    </>
  );
}

/** Seats, service, place and description. */
function About({ session }: { session: Session }) {
  const catalog = useCatalog();
  const { t, locale } = useI18n(scheduleTexts, uiTexts);
  const can = useCan();
  const roster = useRoster(session.id);
  const story = useQuery(
    WaitlistService.method.explainSessionWaitlist,
    { sessionId: session.id },
    { enabled: can("waitlist.read") },
  );
  // Seats that live offers keep count as taken, but have no booking yet.
  const kept = story.data?.offers.some(({ status }) => status === WaitlistOfferStatus.LIVE)
    ? session.seatsTaken -
      seatsIn(roster.data, BookingStatus.PENDING, BookingStatus.CONFIRMED, BookingStatus.ATTENDED)
    : 0;
  const place = catalog.location(session.locationId);
  return (
    <Card title={t.session.details}>
      <Facts
        of={[
          [
            t.session.seats,
            <Fragment key="seats">
              <Seats session={session} />
              {kept > 0 && <Box c="dimmed">{t.session.kept(kept)}</Box>}
            </Fragment>,
          ],
          [t.fields.service, catalog.service(session.serviceId)?.name],
          [
            t.fields.location,
            <Fragment key="place">
              {place?.name}
              {place?.address && <Box c="dimmed">{place.address}</Box>}
            </Fragment>,
          ],
          [t.fields.timeZone, <Dimmed key="zone">{zoneNote(session.timeZone, locale, t)}</Dimmed>],
          session.seriesId && ["", <Dimmed key="series">{t.session.partOfSeries}</Dimmed>],
        ]}
      />
      {session.description && (
        <Text mt={14} fz="sm" className={text.preWrap}>
          {session.description}
        </Text>
      )}
    </Card>
  );
}

function DisplayButton({ session }: { session: Session }) {
  const t = useText(scheduleTexts);
  const make = useCall(CheckInService.method.createDisplayLink);
  return (
    <Button
      variant="default"
      title={t.session.displayNote}
      leftSection={<IconDeviceTv size={16} />}
      loading={make.busy}
      onClick={async () => {
        // Open the window before the request, or the browser blocks it as a popup.
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

/** Actions on the whole session. */
function SessionActions({ session }: { session: Session }) {
  const t = useText(scheduleTexts);
  const go = useNavigate();
  const can = useCan();
  const publish = useCall(SessionService.method.publishSession, { done: t.session.published });
  const unpublish = useCall(SessionService.method.unpublishSession);
  const block = useCall(SessionService.method.blockSession, {
    ask: {
      title: t.session.blockTitle,
      body: t.session.blockBody,
      yes: t.session.block,
      reason: t.fields.reason,
    },
  });
  const unblock = useCall(SessionService.method.unblockSession);
  const ended = millis(session.endTime) <= Date.now();
  const cancel = useCall(SessionService.method.cancelSession, {
    ask: {
      title: t.session.cancelSessionTitle(session.title),
      body: ended ? t.session.cancelEndedBody : t.session.cancelSessionBody(session.seatsTaken),
      yes: t.session.cancel,
      reason: t.fields.reason,
      danger: true,
    },
    done: ({ bookingsCancelled, creditsRefunded }) =>
      t.session.sessionCancelled(bookingsCancelled, creditsRefunded),
  });
  const remove = useCall(SessionService.method.deleteSession, {
    ask: {
      title: t.session.deleteSessionTitle(session.title),
      body: t.session.deleteSessionBody,
      yes: t.session.delete,
      reason: t.fields.reason,
      danger: true,
    },
    done: () => t.session.sessionDeleted,
  });
  const end = useCall(SessionService.method.endSeries, {
    ask: {
      title: t.session.endSeriesTitle(session.title),
      body: t.session.endSeriesBody,
      yes: t.session.endSeries,
      reason: t.fields.reason,
      danger: true,
    },
    done: ({ cancelledSessionIds, deletedSessionIds }) =>
      t.session.seriesEnded(cancelledSessionIds.length, deletedSessionIds.length),
  });
  const [displays, { open: showDisplays, close: hideDisplays }] = useDisclosure();
  const { id: sessionId, etag, status: state, blocked } = session;
  if (state === SessionStatus.CANCELLED) return null;
  const draft = state === SessionStatus.DRAFT;
  const blockable = !draft && can("session.block");
  const publishable = can("session.publish");
  const changeable = !ended || can("session.change_ended");
  const rest: Action[] = [
    [can("checkin.display"), t.session.displays, showDisplays],
    [publishable && !draft, t.session.unpublish, () => unpublish.run({ sessionId, etag })],
    [blockable && blocked, t.session.unblock, () => unblock.run({ sessionId })],
    [blockable && !blocked, t.session.block, () => block.run({ sessionId })],
    [
      can("session.cancel") && changeable,
      t.session.cancel,
      () => cancel.run({ sessionId, includeEnded: ended }),
      "danger",
    ],
    [
      can("session.delete") && changeable && session.seatsTaken + session.waitlistLength === 0,
      t.session.delete,
      async () => {
        if (await remove.run({ sessionId, etag, includeEnded: ended }))
          await go(routes.schedule.path());
      },
      "danger",
    ],
    [
      can("session.series") && session.seriesId !== "",
      t.session.endSeries,
      () => end.run({ seriesId: session.seriesId, endDate: session.localDate }),
      "danger",
    ],
  ];
  return (
    <>
      {draft && publishable && (
        <Button
          variant="light"
          leftSection={<IconCheck size={16} />}
          loading={publish.busy}
          onClick={() => void publish.run({ sessionId, etag })}
        >
          {t.session.publish}
        </Button>
      )}
      <ActionsMenu outlined label={t.actions.actions} actions={rest} />
      <Drawer opened={displays} onClose={hideDisplays} title={t.session.displays}>
        {displays && <DisplayLinks session={session} />}
      </Drawer>
    </>
  );
}

function Seats({ session }: { session: Session }) {
  const t = useText(scheduleTexts, uiTexts);
  const { capacity, seatsTaken, seatsOpen = 0 } = session;
  if (capacity === undefined)
    return (
      <span className={text.num}>
        {seatsTaken} · {t.ui.noLimit}
      </span>
    );
  return (
    <Share of={capacity === 0 ? 1 : seatsTaken / capacity}>
      <Text span inherit {...(seatsOpen === 0 && { c: "var(--bad)", fw: 560 })}>
        {t.session.ofSeats(seatsTaken, capacity)}
      </Text>
    </Share>
  );
}
