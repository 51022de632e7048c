import {
  ListScope,
  type Session,
  SessionService,
  type WaitlistEntry,
  WaitlistEntryStatus,
  WaitlistService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Select, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAll } from "../../../shared/api/lists";
import { DAY, MINUTE, showTime } from "../../../shared/format/time";
import { useFields } from "../../../shared/forms/form";
import { useI18n, useText } from "../../../shared/i18n";
import { QueryResult } from "../../../shared/ui";
import { NumberInput } from "../../../shared/ui/number-input";
import { sessionsOf } from "../../../shared/waitlists/target";
import { CallForm, NumberSelect, SmallHint } from "../../ui";
import { useSave } from "../../ui/edit-form";
import { waitlistTexts } from "../texts";
import { deskTexts } from "./texts";

interface ActProps {
  entry: WaitlistEntry;
  onClose: () => void;
}

/** The reason of an act, which the audit log keeps. */
function Reason(props: {
  value: string;
  onChange: (event: { currentTarget: { value: string } }) => void;
}) {
  const t = useText(deskTexts);
  return (
    <TextInput label={t.fields.reason} description={t.desk.reasonNote} maxLength={500} {...props} />
  );
}

/** The service and location of what an entry waits for. */
function placeOf(entry: WaitlistEntry) {
  if (entry.target.case === "window") return entry.target.value;
  const [first] = sessionsOf(entry);
  return { serviceId: first?.serviceId ?? "", locationId: first?.locationId ?? "" };
}

/** Whether a session has seats for an entry. */
const fits = ({ seatsOpen }: Session, { partySize }: WaitlistEntry) =>
  seatsOpen === undefined || seatsOpen >= partySize;

/** Offers open seats of a session to an entry, at any rank. */
export function OfferForm({ entry, onClose }: ActProps) {
  const { serviceId, locationId } = placeOf(entry);
  const [now] = useState(() => Date.now());
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        serviceIds: [serviceId],
        locationIds: [locationId],
        startsWithin: { start: timestampFromMs(now), end: timestampFromMs(now + 60 * DAY) },
      },
    },
    (answer) => answer.sessions,
  );
  return (
    <QueryResult query={sessions} rows={4}>
      {(all) => (
        <OfferFields
          entry={entry}
          sessions={all.filter((one) => fits(one, entry))}
          onClose={onClose}
        />
      )}
    </QueryResult>
  );
}

function OfferFields({ entry, sessions, onClose }: ActProps & { sessions: readonly Session[] }) {
  const { t, locale } = useI18n(deskTexts, waitlistTexts);
  const named = new Set(sessionsOf(entry).map(({ id }) => id));
  const [first] = sessions.filter(({ id }) => named.has(id));
  const { values, ...form } = useFields({ sessionId: first?.id ?? "", minutes: 0, reason: "" });
  const offer = useSave(
    WaitlistService.method.createWaitlistOffer,
    t.offers.given(entry.memberName),
  );
  const zone = sessions.find(({ id }) => id === values.sessionId)?.timeZone;
  const run = () =>
    offer({
      sessionId: values.sessionId,
      entryId: entry.id,
      reason: values.reason,
      ...(values.minutes > 0 && {
        expireTime: timestampFromMs(Date.now() + values.minutes * MINUTE),
      }),
    });
  if (sessions.length === 0) return <SmallHint>{t.desk.offerNone}</SmallHint>;
  return (
    <CallForm
      act={t.desk.offer}
      run={run}
      disabled={!values.sessionId}
      zone={zone}
      onClose={onClose}
    >
      <Select
        label={t.desk.offerSession}
        required
        searchable
        {...form.choice("sessionId")}
        data={sessions.map(({ id, title, startTime, timeZone, seatsOpen }) => ({
          value: id,
          label: `${startTime ? showTime(startTime, timeZone, locale, "dayTime") : ""} · ${title} · ${t.desk.openSeats(seatsOpen)}`,
        }))}
      />
      <NumberSelect
        label={t.desk.answer}
        names={t.desk.answers}
        any={t.desk.answers[0]}
        w="100%"
        {...form.value("minutes")}
      />
      <Reason {...form.text("reason")} />
    </CallForm>
  );
}

/** Puts an entry before all others, or sets its score. */
export function PriorityForm({ entry, onClose }: ActProps) {
  const t = useText(deskTexts);
  const { values, ...form } = useFields({
    flagged: entry.flagged,
    byHand: entry.score !== undefined,
    score: entry.score ?? entry.currentScore ?? 0,
    reason: "",
  });
  const save = useSave(WaitlistService.method.setWaitlistPriority, t.desk.saved);
  const run = () =>
    save({
      entryId: entry.id,
      flagged: values.flagged,
      ...(values.byHand ? { score: values.score } : { clearScore: entry.score !== undefined }),
      reason: values.reason,
    });
  return (
    <CallForm act={t.actions.save} run={run} onClose={onClose}>
      <Switch label={t.desk.flag} {...form.flag("flagged")} />
      <Switch label={t.desk.ownScore} description={t.desk.scoreNote} {...form.flag("byHand")} />
      {values.byHand && <NumberInput label={t.desk.score} {...form.count("score")} />}
      <Reason {...form.text("reason")} />
    </CallForm>
  );
}

/** The value of the option to move to the end: no id. */
const end = "end";

/** Moves an entry in its queue. */
export function MoveForm({ entry, onClose }: ActProps) {
  const { serviceId, locationId } = placeOf(entry);
  const [session] = sessionsOf(entry);
  const others = useAll(
    WaitlistService.method.listWaitlistEntries,
    {
      scope: ListScope.ALL,
      filter: {
        ...(session ? { sessionId: session.id } : { serviceId, locationId }),
        statuses: [WaitlistEntryStatus.WAITING],
      },
    },
    (answer) => answer.entries,
  );
  return (
    <QueryResult query={others} rows={3}>
      {(all) => (
        <MoveFields
          entry={entry}
          others={all
            .filter(({ id }) => id !== entry.id)
            .sort((a, b) => (a.position ?? 0) - (b.position ?? 0))}
          onClose={onClose}
        />
      )}
    </QueryResult>
  );
}

function MoveFields({ entry, others, onClose }: ActProps & { others: readonly WaitlistEntry[] }) {
  const t = useText(deskTexts, waitlistTexts);
  const { values, ...form } = useFields({ before: others[0]?.id ?? "", reason: "" });
  const move = useSave(WaitlistService.method.moveWaitlistEntry, t.desk.moved);
  if (others.length === 0) return <SmallHint>{t.desk.alone}</SmallHint>;
  const run = () =>
    move({
      entryId: entry.id,
      beforeEntryId: values.before === end ? "" : values.before,
      reason: values.reason,
    });
  return (
    <CallForm act={t.desk.move} run={run} disabled={!values.before} onClose={onClose}>
      <Select
        label={t.desk.before}
        required
        searchable
        {...form.choice("before")}
        data={[
          ...others.map(({ id, memberName, position }) => ({
            value: id,
            label:
              position === undefined
                ? memberName
                : `${memberName} · ${t.waitlist.position(position)}`,
          })),
          { value: end, label: t.desk.toEnd },
        ]}
      />
      <Reason {...form.text("reason")} />
    </CallForm>
  );
}
