import { type EntryVerdict, WaitlistMode, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { type Messages, useSpeech, useText } from "../i18n";
import { type MemberTexts, useMemberTexts } from "../i18n/member";
import { showTime, type Timestamp } from "../shared/time";
import { Shown } from "../shared/ui";

/** What each move of the waitlist meant for an entry, told in the reader's language from the record of it. */
export function Why({ entryId }: { entryId: string }) {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useSpeech();
  const asked = useQuery(WaitlistService.method.explainEntry, { entryId });
  return (
    <Shown of={asked} rows={3}>
      {({ verdicts }) =>
        verdicts.length === 0 ? (
          <p style={{ margin: 0 }}>{m.why.none}</p>
        ) : (
          <ol className="story">
            {[...verdicts].reverse().map((one) => (
              <li key={one.decision?.id}>
                {tell(one, t, m, (at, zone) => showTime(at, zone, locale, "dayTime")).map(
                  (line) => (
                    <span key={line}>{line} </span>
                  ),
                )}
              </li>
            ))}
          </ol>
        )
      }
    </Shown>
  );
}

type Show = (at: Timestamp, zone: string) => string;

/** One move, in sentences. */
export function tell(
  { decision, verdict }: EntryVerdict,
  t: Messages,
  m: MemberTexts,
  show: Show,
): string[] {
  if (!decision) return [];
  const { timeZone, decideTime, trigger, seats, mode, lineLength } = decision;
  const when = decideTime ? show(decideTime, timeZone) : "";
  const story = [m.why.when(when, t.offers.triggers[trigger] ?? "", seats)];
  if (!verdict) return story;
  const { rank, reason, chosenBefore, partySize, expireTime } = verdict;
  const shared = mode === WaitlistMode.FIRST_TO_CLAIM;
  story.push(m.why.line(rank, lineLength));
  if (chosenBefore > 0) story.push(m.why.before(chosenBefore, shared));
  const until = expireTime ? show(expireTime, timeZone) : "";
  const why = m.why.reasons[reason];
  if (reason === "PROMOTED") story.push(m.why.promoted(partySize));
  else if (reason === "OFFERED") {
    story.push(shared ? m.why.told(partySize, until) : m.why.offered(partySize, until));
  } else if (why) story.push(m.why.notChosen(why));
  else story.push(m.why.refused(t.reasons[reason]?.({}) ?? reason));
  return story;
}
