import { type PreviewRulesResponse, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFlask } from "@tabler/icons-react";
import { useEffect, useMemo, useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useDecisionTexts } from "../../i18n/decisions";
import { describeDifference } from "../../shared/decisions";
import { Refused } from "../../shared/form";
import { Card, Shown, State, Time } from "../../shared/ui";
import type { Draft } from "../layers/editor";
import { type Kinds, writeAll } from "../layers/kind";

/** Debounce of the preview while the user types, in ms. */
const debounce = 500;

/** What the draft would have changed about the seats freed in the last month. */
export function Preview({
  target,
  draft: { values, paths, sound, refuse },
  kinds,
}: {
  target: { locationId?: string; serviceId?: string };
  draft: Draft;
  kinds: Kinds;
}) {
  const t = useText();
  const [requested, setRequested] = useState(false);
  const names = paths.join();
  const now = useMemo(() => ({ values, paths: names.split(",") }), [values, names]);
  const [draft] = useDebouncedValue(now, debounce);
  const preview = useQuery(
    WaitlistService.method.previewRules,
    {
      ...target,
      rules: sound ? writeAll(draft.values, kinds) : {},
      updateMask: { paths: draft.paths },
    },
    {
      enabled: requested && sound && draft === now,
      retry: false,
      placeholderData: (before) => before,
    },
  );
  const { error } = preview;
  useEffect(() => {
    if (error) refuse(error);
  }, [error, refuse]);
  return (
    <Card
      title={t.rules.preview}
      extra={
        !requested && (
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconFlask size={15} />}
            onClick={() => setRequested(true)}
          >
            {t.rules.tryOut}
          </Button>
        )
      }
    >
      <div aria-live="polite" aria-busy={preview.isFetching || draft !== now}>
        {!requested ? (
          <p className="muted" style={{ margin: 0 }}>
            {t.rules.previewNote}
          </p>
        ) : !sound ? (
          <p className="muted" style={{ margin: 0 }}>
            {t.rules.notTried}
          </p>
        ) : error && draft === now ? (
          <Refused error={error} />
        ) : (
          <Shown of={{ ...preview, error: null }} rows={3}>
            {(result) =>
              result.moves.length === 0 ? (
                <State title={t.rules.noHistory} />
              ) : (
                <Differences result={result} />
              )
            }
          </Shown>
        )}
      </div>
    </Card>
  );
}

/** Only this many decisions are listed; the rest are counted. */
const most = 20;

function Differences({ result }: { result: PreviewRulesResponse }) {
  const t = useText();
  const texts = useDecisionTexts();
  const { locale } = useI18n();
  const different = result.moves.filter(({ changed }) => changed);
  return (
    <>
      <p style={{ margin: 0 }}>
        <strong>{t.rules.wouldChange(result.changed, result.moves.length)}</strong>{" "}
        <span className="muted">
          {result.changed === 0
            ? t.rules.allTheSame
            : [
                t.rules.granted(result.grantedBefore, result.grantedDraft),
                t.rules.handedBack(result.handedBackBefore, result.handedBackDraft),
              ].join(" · ")}
        </span>
      </p>
      {different.length > 0 && (
        <div className="scroll-x" style={{ marginTop: 12 }}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t.rules.decided}</th>
                <th scope="col">{t.rules.forSession}</th>
                <th scope="col">{t.rules.instead}</th>
              </tr>
            </thead>
            <tbody>
              {different.slice(0, most).map((move) => (
                <tr key={move.decision?.id}>
                  <td className="muted" style={{ whiteSpace: "nowrap" }}>
                    <Time
                      at={move.decision?.decideTime}
                      zone={move.decision?.timeZone || "UTC"}
                      as="dateTime"
                    />
                  </td>
                  <td>
                    <Link to={`/sessions/${move.decision?.sessionId}`} target="_blank">
                      {move.decision?.sessionTitle}
                    </Link>
                  </td>
                  <td>{describeDifference(move, texts, locale).join(" ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {different.length > most && (
        <p className="muted" style={{ margin: "8px 0 0" }}>
          {t.rules.moreMoves(different.length - most)}
        </p>
      )}
    </>
  );
}
