import { WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useI18n } from "../i18n";
import { useDecisionTexts } from "../i18n/decisions";
import { describeForMember } from "../shared/decisions";
import { showTime } from "../shared/time";
import { Shown } from "../shared/ui";

/** Explains the waitlist decisions about an entry, in the user's language. */
export function Why({ entryId }: { entryId: string }) {
  const texts = useDecisionTexts();
  const { locale } = useI18n();
  const query = useQuery(WaitlistService.method.explainEntry, { entryId });
  return (
    <Shown of={query} rows={3}>
      {({ verdicts }) =>
        verdicts.length === 0 ? (
          <p style={{ margin: 0 }}>{texts.you.none}</p>
        ) : (
          <ol className="decisions">
            {[...verdicts].reverse().map((one) => (
              <li key={one.decision?.id}>
                {describeForMember(one, texts, (at, zone) =>
                  showTime(at, zone, locale, "dayTime"),
                ).map((line) => (
                  <span key={line}>{line} </span>
                ))}
              </li>
            ))}
          </ol>
        )
      }
    </Shown>
  );
}
