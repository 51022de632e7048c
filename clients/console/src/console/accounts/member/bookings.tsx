import {
  BookingService,
  BookingStatus,
  ListScope,
  type Member,
  SessionService,
  type WaitlistEntry,
  WaitlistEntryStatus,
  WaitlistService,
  WaitlistVerdictReason,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { ActionIcon, Stack } from "@mantine/core";
import { IconHourglass, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useCall, useFailed, useRead } from "../../../shared/api/calls";
import { useAll } from "../../../shared/api/lists";
import { useCan } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { sessionOf } from "../../../shared/schedules/summary";
import { State, Tag, Time } from "../../../shared/ui";
import { Countdown } from "../../../shared/ui/countdown";
import { later } from "../../../shared/ui/lazy";
import { staffReason } from "../../../shared/waitlists/decisions";
import { sessionsOf } from "../../../shared/waitlists/target";
import { decisionTexts } from "../../../shared/waitlists/texts";
import { BookingActions } from "../../bookings/actions";
import type { Held } from "../../bookings/hold";
import { HoldDrawer } from "../../bookings/hold-drawer";
import { BookingTag } from "../../bookings/tag";
import { bookingTexts } from "../../bookings/texts";
import { routes } from "../../routes";
import { CardHint, DialogButton, dotted, List, NameLink, Note, right } from "../../ui";
import { EntryTarget } from "../../waitlists/target";
import { waitlistTexts } from "../../waitlists/texts";
import { memberPageTexts } from "./texts";

const TimeWindow = later(() => import("../../waitlists/time-window"), "TimeWindow");

const current = [BookingStatus.PENDING, BookingStatus.CONFIRMED, BookingStatus.ATTENDED];

/** A member's upcoming bookings and waitlist entries. */
export function Bookings({ member }: { member: Member }) {
  const t = useText(bookingTexts, memberPageTexts);
  const can = useCan();
  const read = useRead();
  const failed = useFailed();
  const [held, setHeld] = useState<Held>();
  const bookings = useAll(
    BookingService.method.listBookings,
    { scope: ListScope.ALL, filter: { memberId: member.id, statuses: current } },
    (answer) => answer.bookings,
    { refetchInterval: 60_000 },
  );
  return (
    <Stack gap={18}>
      <List
        query={bookings}
        title={t.member.coming}
        skeleton={4}
        caption={t.member.coming}
        empty={<State title={t.member.nothing} note={t.member.nothingNote} />}
        columns={[
          {
            c: "dimmed",
            w: 170,
            show: (booking) => (
              <Time at={sessionOf(booking).startTime} zone={sessionOf(booking).timeZone} />
            ),
          },
          {
            show: ({ session, partySize, promoted }) => (
              <>
                <NameLink to={routes.session.path({ id: sessionOf({ session }).id })}>
                  {sessionOf({ session }).title}
                </NameLink>
                {(partySize > 1 || promoted) && (
                  <Note>
                    {dotted(partySize > 1 && `× ${partySize}`, promoted && t.bookings.promoted)}
                  </Note>
                )}
              </>
            ),
          },
          { ...right, show: (booking) => <BookingTag booking={booking} /> },
          {
            ...right,
            w: 1,
            show: (booking) => (
              <BookingActions
                booking={booking}
                onConfirm={() =>
                  read(SessionService.method.getSession, {
                    sessionId: sessionOf(booking).id,
                  }).then(({ session }) => session && setHeld({ booking, session }), failed)
                }
              />
            ),
          },
        ]}
      />
      {can("waitlist.read") && <Waits member={member} />}
      <HoldDrawer held={held} onChange={setHeld} />
    </Stack>
  );
}

function Waits({ member }: { member: Member }) {
  const t = useText(memberPageTexts, waitlistTexts);
  const can = useCan();
  const entries = useQuery(
    WaitlistService.method.listWaitlistEntries,
    { scope: ListScope.ALL, filter: { memberId: member.id }, pageSize: 200 },
    { refetchInterval: 60_000, select: ({ entries }) => entries },
  );
  return (
    <List
      query={entries}
      title={t.member.waits}
      extra={
        can("waitlist.manage") && (
          <DialogButton
            modal
            width={540}
            size="compact-sm"
            variant="subtle"
            leftSection={<IconHourglass size={14} />}
            label={t.timeWindow.open}
            title={t.timeWindow.title(member.name)}
          >
            {(close) => <TimeWindow member={member} onClose={close} />}
          </DialogButton>
        )
      }
      skeleton={2}
      caption={t.waitlist.waitlist}
      empty={<CardHint>{t.member.waitsForNothing}</CardHint>}
      columns={[
        { show: (entry) => <Wait entry={entry} /> },
        {
          ...right,
          show: ({ status, liveOffer, position }) =>
            status === WaitlistEntryStatus.OFFERED && liveOffer ? (
              <>
                <Tag tone="accent">{t.offers.live}</Tag> <Countdown until={liveOffer.expireTime} />
              </>
            ) : (
              position !== undefined && <Tag>{t.waitlist.position(position)}</Tag>
            ),
        },
        can("waitlist.manage") && {
          ta: "right",
          w: 1,
          show: (entry) => <Remove entry={entry} />,
        },
      ]}
    />
  );
}

function Remove({ entry }: { entry: WaitlistEntry }) {
  const t = useText(waitlistTexts);
  const remove = useCall(WaitlistService.method.removeWaitlistEntry, {
    ask: {
      title: t.waitlist.removeTitle(entry.memberName),
      body: sessionsOf(entry)[0]?.title ?? t.timeWindow.window,
      yes: t.waitlist.removeEntry,
      reason: t.fields.reason,
      danger: true,
    },
  });
  return (
    <ActionIcon
      aria-label={t.waitlist.removeEntry}
      onClick={() => void remove.run({ entryId: entry.id })}
    >
      <IconX size={16} />
    </ActionIcon>
  );
}

function Wait({ entry }: { entry: WaitlistEntry }) {
  const t = useText(decisionTexts);
  return (
    <>
      <EntryTarget entry={entry} />
      <Note>
        {dotted(
          entry.partySize > 1 && `× ${entry.partySize}`,
          entry.flagged && t.offers.flagged,
          entry.passedOverReason !== WaitlistVerdictReason.UNSPECIFIED &&
            t.common.skipped(staffReason(entry.passedOverReason, t.decisions)),
        )}
      </Note>
    </>
  );
}
