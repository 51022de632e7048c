import { WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useSpeech } from "../i18n";
import { useStory } from "../i18n/story";
import { tellMember } from "../shared/story";
import { showTime } from "../shared/time";
import { Shown } from "../shared/ui";

/** Explains the waitlist decisions about an entry, in the user's language. */
export function Why({ entryId }: { entryId: string }) {
  const story = useStory();
  const { locale } = useSpeech();
  const asked = useQuery(WaitlistService.method.explainEntry, { entryId });
  return (
    <Shown of={asked} rows={3}>
      {({ verdicts }) =>
        verdicts.length === 0 ? (
          <p style={{ margin: 0 }}>{story.you.none}</p>
        ) : (
          <ol className="story">
            {[...verdicts].reverse().map((one) => (
              <li key={one.decision?.id}>
                {tellMember(one, story, (at, zone) => showTime(at, zone, locale, "dayTime")).map(
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
