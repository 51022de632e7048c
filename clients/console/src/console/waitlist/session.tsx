import "./waitlist.css";
import {
  type ExplainSessionResponse,
  type Offer,
  OfferStatus,
  type Session,
  type WaitlistDecision,
  type WaitlistEntry,
  WaitlistEntryStatus,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Modal } from "@mantine/core";
import { IconFlagFilled } from "@tabler/icons-react";
import { Fragment, useState } from "react";
import { Link } from "react-router";
import { useSpeech, useText } from "../../i18n";
import { useStory } from "../../i18n/story";
import { ask } from "../../shared/ask";
import { useDo } from "../../shared/calls";
import { Countdown } from "../../shared/countdown";
import { useCan } from "../../shared/me";
import { isChosen, tellStaff, tellTodo, tellVerdict, whyNot } from "../../shared/story";
import { showTime, type Timestamp } from "../../shared/time";
import { Card, Face, Shown, State, Tag, Time, type Tone } from "../../shared/ui";
import { type Act, ActsMenu } from "../acts";
import { Worth } from "./worth";

/** A session's waitlist: entries, offers, and the decisions behind them. */
export function SessionWaitlist({ session }: { session: Session }) {
  const t = useText();
  const [why, setWhy] = useState(false);
  const story = useQuery(
    WaitlistService.method.explainSession,
    { sessionId: session.id },
    { refetchInterval: 60_000 },
  );
  const moves = story.data?.decisions.length ?? 0;
  return (
    <>
      <Card
        bare
        title={t.session.waitlist}
        extra={
          <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
            {moves > 0 && (
              <Button size="compact-xs" variant="subtle" onClick={() => setWhy(true)}>
                {t.offers.why}
              </Button>
            )}
            {(session.waitlistLength > 0 || session.waitlistCapacity > 0) && (
              <span className="muted num">
                {t.schedule.waiting(session.waitlistLength)} ·{" "}
                {t.rules.deepest(session.waitlistCapacity)}
              </span>
            )}
          </span>
        }
      >
        <Shown of={story} rows={3}>
          {(told) => <Queue told={told} session={session} />}
        </Shown>
      </Card>
      <Modal opened={why} onClose={() => setWhy(false)} title={t.offers.log} size={720}>
        {story.data && <Log told={story.data} zone={session.timeZone} />}
      </Modal>
    </>
  );
}

function Queue({ told, session }: { told: ExplainSessionResponse; session: Session }) {
  const t = useText();
  const story = useStory();
  const live = told.offers.filter(({ status }) => status === OfferStatus.LIVE);
  const notes = told.decisions.filter((one) => tellTodo(one, story)).slice(-1);
  if (told.entries.length === 0 && live.length === 0) {
    return (
      <p className="muted" style={{ margin: 0, padding: "14px 16px", fontSize: 13 }}>
        {t.session.noWaitlist}
      </p>
    );
  }
  return (
    <>
      {notes.map((one) => (
        <p
          key={one.id}
          style={{
            margin: 0,
            padding: "10px 16px",
            fontSize: 13,
            background: "var(--warn-soft)",
            color: "var(--warn)",
          }}
        >
          {tellTodo(one, story)}
        </p>
      ))}
      <table className="table">
        <caption className="sr">{t.session.waitlist}</caption>
        <tbody>
          {told.entries.map((entry, at) => (
            <Row
              key={entry.id}
              entry={entry}
              place={at + 1}
              offer={live.find(({ entryId }) => entryId === entry.id)}
              before={told.entries[0]?.id}
              session={session}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({
  entry,
  place,
  offer,
  before,
  session,
}: {
  entry: WaitlistEntry;
  place: number;
  offer: Offer | undefined;
  before: string | undefined;
  session: Session;
}) {
  const t = useText();
  const story = useStory();
  const can = useCan();
  const give = useDo(WaitlistService.method.offerPlace, { done: t.offers.given(entry.memberName) });
  const end = useDo(WaitlistService.method.expireOffer);
  const priority = useDo(WaitlistService.method.setPriority);
  const move = useDo(WaitlistService.method.moveEntry);
  const remove = useDo(WaitlistService.method.removeEntry);
  const entryId = entry.id;
  const takeOff = async () => {
    const answer = await ask({
      title: t.session.removeTitle(entry.memberName),
      yes: t.session.removeEntry,
      reason: t.fields.reason,
      danger: true,
    });
    if (answer) await remove.run({ entryId, reason: answer.reason });
  };
  const free = session.capacity === undefined || (session.seatsOpen ?? 0) > 0;
  const acts: (Act | false)[] = [
    offer
      ? { label: t.offers.end, run: () => end.run({ offerId: offer.id }) }
      : free && {
          label: t.offers.give,
          run: () => give.run({ sessionId: session.id, entryId }),
        },
    {
      label: entry.flagged ? t.offers.unflag : t.offers.flag,
      run: () => priority.run({ entryId, flagged: !entry.flagged }),
    },
    before !== undefined &&
      before !== entryId &&
      entry.status === WaitlistEntryStatus.WAITING && {
        label: t.offers.toFront,
        run: () => move.run({ entryId, beforeEntryId: before }),
      },
    { label: t.session.removeEntry, run: takeOff, danger: true },
  ];
  return (
    <tr>
      <td className="num muted" style={{ width: 1 }}>
        {place}
      </td>
      <td>
        <span className="person">
          <Face name={entry.memberName} />
          <span style={{ minWidth: 0 }}>
            <Link to={`/members/${entry.memberId}`}>{entry.memberName}</Link>{" "}
            {entry.flagged && (
              <IconFlagFilled size={13} color="var(--warn)" aria-label={t.offers.flagged} />
            )}
            <div className="muted" style={{ fontSize: 12 }}>
              {entry.partySize > 1 && `× ${entry.partySize} · `}
              {offer ? (
                <>
                  {t.offers.live} <Countdown until={offer.expireTime} />
                </>
              ) : (
                <>
                  {t.session.since}{" "}
                  <Time at={entry.createTime} zone={session.timeZone} as="dateTime" />
                </>
              )}
              {entry.currentScore !== undefined && (
                <>
                  {" · "}
                  <Worth entry={entry} place={place} session={session} />
                </>
              )}
              {!offer && entry.passedOverReason && (
                <div>{t.session.passedOver(whyNot(entry.passedOverReason, story))}</div>
              )}
            </div>
          </span>
        </span>
      </td>
      <td className="right" style={{ width: 1 }}>
        {can("waitlist.manage") && (
          <ActsMenu label={`${t.actions.actions}: ${entry.memberName}`} acts={acts} />
        )}
      </td>
    </tr>
  );
}

/** All decisions, with the verdict on each entry. */
function Log({ told, zone }: { told: ExplainSessionResponse; zone: string }) {
  const t = useText();
  if (told.decisions.length === 0) return <State title={t.offers.noMoves} />;
  return (
    <div className="stack">
      {[...told.decisions].reverse().map((decision) => (
        <Decision key={decision.id} decision={decision} zone={zone} />
      ))}
    </div>
  );
}

const moveTones: Record<number, Tone> = { 1: "warn", 2: "good", 3: "accent", 4: "warn" };

export function Decision({ decision, zone }: { decision: WaitlistDecision; zone: string }) {
  const story = useStory();
  const { t, locale } = useSpeech();
  const show = (at: Timestamp, there: string) => showTime(at, there, locale, "dayTime");
  return (
    <section className="card">
      <header>
        <span>
          <strong style={{ fontWeight: 600 }}>{story.triggers[decision.trigger]}</strong>{" "}
          <span className="muted">
            <Time at={decision.decideTime} zone={zone} as="full" />
          </span>
        </span>
        <Tag tone={moveTones[decision.move] ?? ""}>{story.moves[decision.move]}</Tag>
      </header>
      <div className="body" style={{ fontSize: 13 }}>
        {tellStaff(decision, story, locale, show).map((sentence) => (
          <p key={sentence} style={{ margin: "0 0 6px" }}>
            {sentence}
          </p>
        ))}
        <dl className="facts" style={{ marginTop: 10 }}>
          {decision.verdicts.map((verdict) => (
            <Fragment key={verdict.entryId}>
              <dt>
                {verdict.rank}. {verdict.memberName || story.staff.somebody}
                <div style={{ fontSize: 12 }}>{t.worth.score(verdict.score)}</div>
              </dt>
              <dd>
                <Tag tone={isChosen(verdict) ? "good" : "plain"}>
                  {isChosen(verdict) ? story.staff.chosen : story.staff.passed}
                </Tag>{" "}
                <span className="muted">{tellVerdict(verdict, decision, story, show)}</span>
              </dd>
            </Fragment>
          ))}
        </dl>
      </div>
    </section>
  );
}
