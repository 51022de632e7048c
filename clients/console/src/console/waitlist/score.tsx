import { type Session, type WaitlistEntry, WaitlistOrder, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Popover, UnstyledButton } from "@mantine/core";
import { useText } from "../../i18n";
import { useCan } from "../../shared/me";
import { Time } from "../../shared/ui";

/** An entry's score, with a popover that explains its position. */
export function Score({
  entry,
  position,
  session,
}: {
  entry: WaitlistEntry;
  position: number;
  session: Session;
}) {
  const t = useText();
  const { currentScore: score, memberName } = entry;
  if (score === undefined) return null;
  return (
    <Popover width={290} position="bottom-start" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className="score" aria-label={`${t.scoring.score(score)}, ${memberName}`}>
          {t.scoring.score(score)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown tabIndex={-1} data-autofocus>
        <ScoreDetails entry={entry} score={score} position={position} session={session} />
      </Popover.Dropdown>
    </Popover>
  );
}

function ScoreDetails({
  entry: { createTime, flagged, score: given, scoreParts: parts },
  score,
  position,
  session: { serviceId, locationId, timeZone },
}: {
  entry: WaitlistEntry;
  score: number;
  position: number;
  session: Session;
}) {
  const t = useText();
  const can = useCan();
  const rules = useQuery(
    WaitlistService.method.getRules,
    { serviceId, locationId },
    { enabled: can("waitlist.read_rules") },
  );
  const order = rules.data?.effective?.rules?.order ?? WaitlistOrder.UNSPECIFIED;
  const sum: readonly (readonly [string, string])[] = parts
    ? [
        [t.scoring.base, `${parts.base}`],
        [t.scoring.tier, `+ ${parts.tierBonus}`],
        [t.scoring.early, `+ ${parts.earlyBirdPoints}`],
      ]
    : [[given === undefined ? t.scoring.formula : t.scoring.byStaff, `${score}`]];
  return (
    <>
      <strong style={{ fontWeight: 600 }}>{t.scoring.position(position)}</strong>
      <dl className="score-parts">
        {flagged && (
          <div>
            <dt>{t.offers.flagged}</dt>
            <dd>{t.scoring.beforeAll}</dd>
          </div>
        )}
        <div>
          <dt>{t.scoring.joined}</dt>
          <dd>
            <Time at={createTime} zone={timeZone} as="dateTime" />
          </dd>
        </div>
        {sum.map(([name, points]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{points}</dd>
          </div>
        ))}
        {parts && (
          <div className="sum">
            <dt>{t.scoring.sum}</dt>
            <dd>{score}</dd>
          </div>
        )}
      </dl>
      <p className="muted" style={{ margin: 0, fontSize: 12 }}>
        {t.scoring.orders[order]}
      </p>
    </>
  );
}
