import { type Session, type WaitlistEntry, WaitlistOrder, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Popover, UnstyledButton } from "@mantine/core";
import { useText } from "../../i18n";
import { useCan } from "../../shared/me";
import { Time } from "../../shared/ui";

/** An entry's score, with a popover that explains its position. */
export function Worth({
  entry,
  place,
  session,
}: {
  entry: WaitlistEntry;
  place: number;
  session: Session;
}) {
  const t = useText();
  const { currentScore: score, memberName } = entry;
  if (score === undefined) return null;
  return (
    <Popover width={290} position="bottom-start" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className="worth" aria-label={`${t.worth.score(score)}, ${memberName}`}>
          {t.worth.score(score)}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown tabIndex={-1} data-autofocus>
        <Parts entry={entry} score={score} place={place} session={session} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Parts({
  entry: { createTime, flagged, score: given, scoreParts: parts },
  score,
  place,
  session: { serviceId, locationId, timeZone },
}: {
  entry: WaitlistEntry;
  score: number;
  place: number;
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
        [t.worth.base, `${parts.base}`],
        [t.worth.tier, `+ ${parts.tierBonus}`],
        [t.worth.early, `+ ${parts.earlyBirdPoints}`],
      ]
    : [[given === undefined ? t.worth.formula : t.worth.byStaff, `${score}`]];
  return (
    <>
      <strong style={{ fontWeight: 600 }}>{t.worth.place(place)}</strong>
      <dl className="worth-parts">
        {flagged && (
          <div>
            <dt>{t.offers.flagged}</dt>
            <dd>{t.worth.beforeAll}</dd>
          </div>
        )}
        <div>
          <dt>{t.worth.joined}</dt>
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
            <dt>{t.worth.sum}</dt>
            <dd>{score}</dd>
          </div>
        )}
      </dl>
      <p className="muted" style={{ margin: 0, fontSize: 12 }}>
        {t.worth.orders[order]}
      </p>
    </>
  );
}
