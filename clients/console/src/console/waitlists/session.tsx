import {
  type ExplainSessionWaitlistResponse,
  type Session,
  type WaitlistEntry,
  WaitlistEntryStatus,
  type WaitlistOffer,
  WaitlistOfferStatus,
  WaitlistOrder,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Popover, Table, Text, UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { Card, QueryResult, Time } from "../../shared/ui";
import { Countdown } from "../../shared/ui/countdown";
import { later } from "../../shared/ui/lazy";
import { describeTodo, staffReason } from "../../shared/waitlists/decisions";
import { decisionTexts } from "../../shared/waitlists/texts";
import { routes } from "../routes";
import { type Action, ActionsMenu, CardHint, DialogButton, Dimmed, Inline, Person } from "../ui";
import text from "../ui/text.module.css";
import { Flag } from "./flag";
import classes from "./score.module.css";
import { waitlistTexts } from "./texts";

const Decisions = later(() => import("./decisions"), "Decisions");

/** A session's waitlist: entries, offers, and the decisions behind them. */
export function SessionWaitlist({ session }: { session: Session }) {
  const t = useText(waitlistTexts);
  const explanation = useQuery(
    WaitlistService.method.explainSessionWaitlist,
    { sessionId: session.id },
    { refetchInterval: 60_000 },
  );
  return (
    <Card
      bare
      title={t.waitlist.waitlist}
      extra={
        <Inline wrap="nowrap">
          {explanation.data && explanation.data.decisions.length > 0 && (
            <DialogButton
              modal
              width={720}
              size="compact-xs"
              variant="subtle"
              label={t.offers.why}
              title={t.offers.log}
            >
              {() => <Decisions decisions={explanation.data.decisions} zone={session.timeZone} />}
            </DialogButton>
          )}
          {(session.waitlistLength > 0 || session.waitlistCapacity > 0) && (
            <Dimmed className={text.num}>
              {t.common.waiting(session.waitlistLength)} ·{" "}
              {t.rules.deepest(session.waitlistCapacity)}
            </Dimmed>
          )}
        </Inline>
      }
    >
      <QueryResult query={explanation} rows={3}>
        {(loaded) => <Entries explanation={loaded} session={session} />}
      </QueryResult>
    </Card>
  );
}

interface EntriesProps {
  explanation: ExplainSessionWaitlistResponse;
  session: Session;
}

function Entries({ explanation: { entries, offers, decisions }, session }: EntriesProps) {
  const t = useText(decisionTexts, waitlistTexts);
  const live = offers.filter(({ status }) => status === WaitlistOfferStatus.LIVE);
  const todo = decisions.map((decision) => describeTodo(decision, t.decisions)).findLast(Boolean);
  if (entries.length === 0 && live.length === 0) {
    return <CardHint>{t.waitlist.noWaitlist}</CardHint>;
  }
  return (
    <>
      {todo && (
        <Text py={10} px={16} fz="sm" bg="var(--warn-soft)" c="var(--warn)">
          {todo}
        </Text>
      )}
      <Table>
        <Table.Caption className={text.hidden}>{t.waitlist.waitlist}</Table.Caption>
        <Table.Tbody>
          {entries.map((entry, at) => (
            <EntryRow
              key={entry.id}
              entry={entry}
              position={at + 1}
              offer={live.find(({ entryId }) => entryId === entry.id)}
              before={entries[0]?.id}
              session={session}
            />
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}

interface EntryRowProps {
  entry: WaitlistEntry;
  position: number;
  offer: WaitlistOffer | undefined;
  before: string | undefined;
  session: Session;
}

/** An entry of a session's waitlist, with the actions on it. */
function EntryRow({ entry, position, offer, before, session }: EntryRowProps) {
  const t = useText(decisionTexts, waitlistTexts);
  const can = useCan();
  const makeOffer = useCall(WaitlistService.method.createWaitlistOffer, {
    done: t.offers.given(entry.memberName),
  });
  const withdraw = useCall(WaitlistService.method.expireWaitlistOffer);
  const priority = useCall(WaitlistService.method.setWaitlistPriority);
  const move = useCall(WaitlistService.method.moveWaitlistEntry);
  const remove = useCall(WaitlistService.method.removeWaitlistEntry, {
    ask: {
      title: t.waitlist.removeTitle(entry.memberName),
      yes: t.waitlist.removeEntry,
      reason: t.fields.reason,
      danger: true,
    },
  });
  const entryId = entry.id;
  const sessionId = session.id;
  const free = session.capacity === undefined || (session.seatsOpen ?? 0) > 0;
  const movable =
    before !== undefined && before !== entryId && entry.status === WaitlistEntryStatus.WAITING;
  const actions: Action[] = [
    [offer !== undefined, t.offers.end, () => withdraw.run({ offerId: offer?.id ?? "" })],
    [!offer && free, t.offers.give, () => makeOffer.run({ sessionId, entryId })],
    [
      true,
      entry.flagged ? t.offers.unflag : t.offers.flag,
      () => priority.run({ entryId, flagged: !entry.flagged }),
    ],
    [movable, t.offers.toFront, () => move.run({ entryId, beforeEntryId: before ?? "" })],
    [true, t.waitlist.removeEntry, () => remove.run({ entryId }), "danger"],
  ];
  return (
    <Table.Tr>
      <Table.Td c="dimmed" w={1}>
        {position}
      </Table.Td>
      <Table.Td>
        <Person
          to={routes.member.path({ id: entry.memberId })}
          name={entry.memberName}
          mark={entry.flagged && <Flag />}
        >
          {entry.partySize > 1 && `× ${entry.partySize} · `}
          {offer ? (
            <>
              {t.offers.live} <Countdown until={offer.expireTime} />
            </>
          ) : (
            <>
              {t.common.since} <Time at={entry.createTime} zone={session.timeZone} as="dateTime" />
            </>
          )}
          {entry.currentScore !== undefined && (
            <>
              {" · "}
              <Score entry={entry} position={position} session={session} />
            </>
          )}
          {!offer && t.decisions.staff.next[entry.mode] && (
            <div>{t.decisions.staff.next[entry.mode]}</div>
          )}
          {!offer && entry.passedOverReason > 0 && (
            <div>{t.common.skipped(staffReason(entry.passedOverReason, t.decisions))}</div>
          )}
        </Person>
      </Table.Td>
      <Table.Td ta="right" w={1}>
        {can("waitlist.manage") && (
          <ActionsMenu label={`${t.actions.actions}: ${entry.memberName}`} actions={actions} />
        )}
      </Table.Td>
    </Table.Tr>
  );
}

interface ScoreProps {
  entry: WaitlistEntry;
  position: number;
  session: Session;
}

/** An entry's score, with a popover that explains its position. */
function Score({ entry, position, session }: ScoreProps) {
  const t = useText(waitlistTexts);
  const { currentScore: score, memberName } = entry;
  if (score === undefined) return null;
  return (
    <Popover width={290} position="bottom-start" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton
          className={classes.score}
          aria-label={`${t.scoring.score(score)}, ${memberName}`}
        >
          {t.scoring.score(score)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown tabIndex={-1} data-autofocus>
        <ScoreDetails entry={entry} score={score} position={position} session={session} />
      </Popover.Dropdown>
    </Popover>
  );
}

function ScoreDetails({ entry, score, position, session }: ScoreProps & { score: number }) {
  const { createTime, flagged, score: given, scoreParts: parts } = entry;
  const { serviceId, locationId, timeZone } = session;
  const t = useText(waitlistTexts);
  const can = useCan();
  const rules = useQuery(
    WaitlistService.method.getWaitlistRules,
    { serviceId, locationId },
    { enabled: can("waitlist.read_rules") },
  );
  const order = rules.data?.effective?.rules?.order ?? WaitlistOrder.UNSPECIFIED;
  const lines: readonly (readonly [string, ReactNode] | false)[] = [
    flagged && [t.offers.flagged, t.scoring.beforeAll],
    [t.scoring.joined, <Time key="joined" at={createTime} zone={timeZone} as="dateTime" />],
    ...(parts
      ? ([
          [t.scoring.base, parts.base],
          [t.scoring.tier, `+ ${parts.tierBonus}`],
          [t.scoring.early, `+ ${parts.earlyBirdPoints}`],
        ] as const)
      : ([[given === undefined ? t.scoring.formula : t.scoring.byStaff, score]] as const)),
  ];
  return (
    <>
      <Box component="strong" fw={600}>
        {t.scoring.position(position)}
      </Box>
      <dl className={classes.parts}>
        {lines.map(
          (line) =>
            line && (
              <div key={line[0]}>
                <dt>{line[0]}</dt>
                <dd>{line[1]}</dd>
              </div>
            ),
        )}
        {parts && (
          <div className={classes.sum}>
            <dt>{t.scoring.sum}</dt>
            <dd>{score}</dd>
          </div>
        )}
      </dl>
      <Text c="dimmed" fz="xs">
        {t.scoring.orders[order]}
      </Text>
    </>
  );
}
