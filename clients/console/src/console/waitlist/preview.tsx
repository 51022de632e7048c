import { WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useStory } from "../../i18n/story";
import { tellDifference } from "../../shared/story";
import { Shown, State, Time } from "../../shared/ui";
import { type Kinds, type Values, writeAll } from "../layers/kind";

/** What the draft would have done with the seats that were freed in the last month. */
export function Preview({
  target,
  values,
  paths,
  kinds,
}: {
  target: { locationId?: string; serviceId?: string };
  values: Values;
  paths: string[];
  kinds: Kinds;
}) {
  const t = useText();
  const story = useStory();
  const { locale } = useSpeech();
  const [asked, setAsked] = useState(false);
  const preview = useQuery(
    WaitlistService.method.previewRules,
    { ...target, rules: writeAll(values, kinds), updateMask: { paths } },
    { enabled: asked, placeholderData: (before) => before },
  );
  return (
    <section className="card">
      <header>
        <h2 style={{ margin: 0, fontSize: 14, fontWeight: 600 }}>{t.rules.preview}</h2>
        {!asked && (
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconFlask size={15} />}
            onClick={() => setAsked(true)}
          >
            {t.rules.tryOut}
          </Button>
        )}
      </header>
      <div className="body" aria-live="polite">
        {!asked ? (
          <p className="muted" style={{ margin: 0 }}>
            {t.rules.previewNote}
          </p>
        ) : (
          <Shown of={preview} rows={3}>
            {(would) =>
              would.moves.length === 0 ? (
                <State title={t.rules.noHistory} />
              ) : (
                <>
                  <p style={{ marginTop: 0 }}>
                    <strong>{t.rules.wouldChange(would.changed, would.moves.length)}</strong>{" "}
                    <span className="muted">
                      {t.rules.granted(would.grantedBefore, would.grantedDraft)} ·{" "}
                      {t.rules.handedBack(would.handedBackBefore, would.handedBackDraft)}
                    </span>
                  </p>
                  <table className="table">
                    <tbody>
                      {would.moves
                        .filter(({ changed }) => changed)
                        .slice(0, 20)
                        .map((move) => (
                          <tr key={move.decision?.id}>
                            <td className="muted" style={{ whiteSpace: "nowrap" }}>
                              <Time
                                at={move.decision?.decideTime}
                                zone={move.decision?.timeZone || "UTC"}
                                as="dateTime"
                              />
                            </td>
                            <td>{move.decision?.sessionTitle}</td>
                            <td>{tellDifference(move, story, locale).join(" ")}</td>
                          </tr>
                        ))}
                    </tbody>
                  </table>
                </>
              )
            }
          </Shown>
        )}
      </div>
    </section>
  );
}
