import { type PreviewWaitlistRulesResponse, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Button, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFlask } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { Link } from "react-router";
import { FormError } from "../../shared/forms/form";
import { useI18n, useText } from "../../shared/i18n";
import { Card, QueryResult, State, Time } from "../../shared/ui";
import { describeDifference } from "../../shared/waitlists/decisions";
import { decisionTexts } from "../../shared/waitlists/texts";
import { routes } from "../routes";
import type { Draft } from "../settings/editor";
import { type Kinds, writeAll } from "../settings/kind";
import { DataTable, Dimmed, dotted, Hint, quiet } from "../ui";
import { waitlistTexts } from "./texts";

/** Debounce of the preview while the user types, in ms. */
const debounce = 500;

interface PreviewProps {
  target: { locationId?: string; serviceId?: string };
  draft: Draft;
  kinds: Kinds;
}

/** What the draft would have changed about the seats freed in the last month. */
export function Preview({ target, draft: { values, paths, sound, refuse }, kinds }: PreviewProps) {
  const t = useText(waitlistTexts);
  const [requested, setRequested] = useState(false);
  const names = paths.join();
  const now = useMemo(() => ({ values, paths: names.split(",") }), [values, names]);
  const [draft] = useDebouncedValue(now, debounce);
  const preview = useQuery(
    WaitlistService.method.previewWaitlistRules,
    {
      ...target,
      rules: sound ? writeAll(draft.values, kinds) : {},
      updateMask: { paths: draft.paths },
    },
    {
      enabled: requested && sound && draft === now,
      retry: false,
      placeholderData: keepPreviousData,
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
        {!requested || !sound ? (
          <Hint>{requested ? t.rules.notTried : t.rules.previewNote}</Hint>
        ) : error && draft === now ? (
          <FormError error={error} />
        ) : (
          <QueryResult query={{ ...preview, error: null }} rows={3}>
            {(result) => <Differences result={result} />}
          </QueryResult>
        )}
      </div>
    </Card>
  );
}

/** Only this many decisions are listed; the rest are counted. */
const most = 20;

function Differences({ result }: { result: PreviewWaitlistRulesResponse }) {
  const { t, locale } = useI18n(decisionTexts, waitlistTexts);
  if (result.moves.length === 0) return <State title={t.rules.noHistory} />;
  const different = result.moves.flatMap((move) =>
    move.changed && move.decision ? [{ ...move.decision, move }] : [],
  );
  return (
    <>
      <Text inherit>
        <strong>{t.rules.wouldChange(result.changed, result.moves.length)}</strong>{" "}
        <Dimmed>
          {result.changed === 0
            ? t.rules.allTheSame
            : dotted(
                t.rules.granted(result.grantedBefore, result.grantedDraft),
                t.rules.handedBack(result.handedBackBefore, result.handedBackDraft),
              )}
        </Dimmed>
      </Text>
      {different.length > 0 && (
        <Box mt={12}>
          <DataTable
            rows={different.slice(0, most)}
            columns={[
              {
                title: t.rules.decided,
                ...quiet,
                show: ({ decideTime, session }) => (
                  <Time at={decideTime} zone={session?.timeZone || "UTC"} as="dateTime" />
                ),
              },
              {
                title: t.rules.forSession,
                show: ({ session }) => (
                  <Link to={routes.session.path({ id: session?.id ?? "" })} target="_blank">
                    {session?.title}
                  </Link>
                ),
              },
              {
                title: t.rules.instead,
                show: ({ move }) => describeDifference(move, t.decisions, locale).join(" "),
              },
            ]}
          />
        </Box>
      )}
      {different.length > most && (
        <Hint mt={8} mb={0}>
          {t.rules.moreMoves(different.length - most)}
        </Hint>
      )}
    </>
  );
}
