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
import { useI18n, useText } from "../../i18n";
import { useDecisionTexts } from "../../i18n/decisions";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { Countdown } from "../../shared/countdown";
import {
  describeForStaff,
  describeTodo,
  describeVerdict,
  isChosen,
  staffReason,
} from "../../shared/decisions";
import { useCan } from "../../shared/me";
import { showTime, type Timestamp } from "../../shared/time";
import { Card, Face, Shown, State, Tag, Time, type Tone } from "../../shared/ui";
import { type Action, ActionsMenu } from "../actions-menu";
import { Score } from "./score";

/** A session's waitlist: entries, offers, and the decisions behind them. */
export function SessionWaitlist({ session }: { session: Session }) {
  const t = useText();
  const [decisionsOpen, setDecisionsOpen] = useState(false);
  const explanation = useQuery(
    WaitlistService.method.explainSession,
    { sessionId: session.id },
    { refetchInterval: 60_000 },
  );
  const decisionCount = explanation.data?.decisions.length ?? 0;
  return (
    <>
      <Card
        bare
        title={t.session.waitlist}
        extra={
          <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
            {decisionCount > 0 && (
              <Button size="compact-xs" variant="subtle" onClick={() => setDecisionsOpen(true)}>
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
        <Shown of={explanation} rows={3}>
          {(loaded) => <Entries explanation={loaded} session={session} />}
        </Shown>
      </Card>
      <Modal
        opened={decisionsOpen}
        onClose={() => setDecisionsOpen(false)}
        title={t.offers.log}
        size={720}
      >
        {explanation.data && <Decisions explanation={explanation.data} zone={session.timeZone} />}
      </Modal>
    </>
  );
}

function Entries({
  explanation,
  session,
}: {
  explanation: ExplainSessionResponse;
  session: Session;
}) {
  const t = useText();
  const texts = useDecisionTexts();
  const live = explanation.offers.filter(({ status }) => status === OfferStatus.LIVE);
  const notes = explanation.decisions.filter((one) => describeTodo(one, texts)).slice(-1);
  if (explanation.entries.length === 0 && live.length === 0) {
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
          {describeTodo(one, texts)}
        </p>
      ))}
      <table className="table">
        <caption className="sr">{t.session.waitlist}</caption>
        <tbody>
          {explanation.entries.map((entry, at) => (
            <Row
              key={entry.id}
              entry={entry}
              position={at + 1}
              offer={live.find(({ entryId }) => entryId === entry.id)}
              before={explanation.entries[0]?.id}
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
  position,
  offer,
  before,
  session,
}: {
  entry: WaitlistEntry;
  position: number;
  offer: Offer | undefined;
  before: string | undefined;
  session: Session;
}) {
  const t = useText();
  const texts = useDecisionTexts();
  const can = useCan();
  const makeOffer = useCall(WaitlistService.method.offerPlace, {
    done: t.offers.given(entry.memberName),
  });
  const withdraw = useCall(WaitlistService.method.expireOffer);
  const priority = useCall(WaitlistService.method.setPriority);
  const move = useCall(WaitlistService.method.moveEntry);
  const remove = useCall(WaitlistService.method.removeEntry);
  const entryId = entry.id;
  const confirmRemove = async () => {
    const answer = await ask({
      title: t.session.removeTitle(entry.memberName),
      yes: t.session.removeEntry,
      reason: t.fields.reason,
      danger: true,
    });
    if (answer) await remove.run({ entryId, reason: answer.reason });
  };
  const free = session.capacity === undefined || (session.seatsOpen ?? 0) > 0;
  const actions: (Action | false)[] = [
    offer
      ? { label: t.offers.end, run: () => withdraw.run({ offerId: offer.id }) }
      : free && {
          label: t.offers.give,
          run: () => makeOffer.run({ sessionId: session.id, entryId }),
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
    { label: t.session.removeEntry, run: confirmRemove, danger: true },
  ];
  return (
    <tr>
      <td className="num muted" style={{ width: 1 }}>
        {position}
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
                  <Score entry={entry} position={position} session={session} />
                </>
              )}
              {!offer && entry.passedOverReason && (
                <div>{t.session.skipped(staffReason(entry.passedOverReason, texts))}</div>
              )}
            </div>
          </span>
        </span>
      </td>
      <td className="right" style={{ width: 1 }}>
        {can("waitlist.manage") && (
          <ActionsMenu label={`${t.actions.actions}: ${entry.memberName}`} actions={actions} />
        )}
      </td>
    </tr>
  );
}

/** All decisions, with the verdict on each entry. */
function Decisions({ explanation, zone }: { explanation: ExplainSessionResponse; zone: string }) {
  const t = useText();
  if (explanation.decisions.length === 0) return <State title={t.offers.noMoves} />;
  return (
    <div className="stack">
      {[...explanation.decisions].reverse().map((decision) => (
        <Decision key={decision.id} decision={decision} zone={zone} />
      ))}
    </div>
  );
}

const moveTones: Record<number, Tone> = { 1: "warn", 2: "good", 3: "accent", 4: "warn" };

export function Decision({ decision, zone }: { decision: WaitlistDecision; zone: string }) {
  const texts = useDecisionTexts();
  const { t, locale } = useI18n();
  const show = (at: Timestamp, there: string) => showTime(at, there, locale, "dayTime");
  return (
    <section className="card">
      <header>
        <span>
          <strong style={{ fontWeight: 600 }}>{texts.triggers[decision.trigger]}</strong>{" "}
          <span className="muted">
            <Time at={decision.decideTime} zone={zone} as="full" />
          </span>
        </span>
        <Tag tone={moveTones[decision.move] ?? ""}>{texts.moves[decision.move]}</Tag>
      </header>
      <div className="body" style={{ fontSize: 13 }}>
        {describeForStaff(decision, texts, locale, show).map((sentence) => (
          <p key={sentence} style={{ margin: "0 0 6px" }}>
            {sentence}
          </p>
        ))}
        <dl className="facts" style={{ marginTop: 10 }}>
          {decision.verdicts.map((verdict) => (
            <Fragment key={verdict.entryId}>
              <dt>
                {verdict.rank}. {verdict.memberName || texts.staff.someone}
                <div style={{ fontSize: 12 }}>{t.scoring.score(verdict.score)}</div>
              </dt>
              <dd>
                <Tag tone={isChosen(verdict) ? "good" : "plain"}>
                  {isChosen(verdict) ? texts.staff.chosen : texts.staff.passed}
                </Tag>{" "}
                <span className="muted">{describeVerdict(verdict, decision, texts, show)}</span>
              </dd>
            </Fragment>
          ))}
        </dl>
      </div>
    </section>
  );
}
