import type { WaitlistDecision } from "@berthhq/client";
import { Box, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import { showTime, type Timestamp } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { Card, State, Tag, Time } from "../../shared/ui";
import { describeForStaff, describeVerdict, isChosen } from "../../shared/waitlists/decisions";
import { decisionTexts } from "../../shared/waitlists/texts";
import { Dimmed, Facts } from "../ui";
import { moveTones } from "./moves";
import { waitlistTexts } from "./texts";

interface DecisionsProps {
  /** The oldest first. */
  decisions: readonly WaitlistDecision[];
  zone: string;
}

/** All decisions, with the verdict on each entry. */
export function Decisions({ decisions, zone }: DecisionsProps) {
  const t = useText();
  if (decisions.length === 0) return <State title={t.offers.noMoves} />;
  return (
    <Stack gap={18}>
      {[...decisions].reverse().map((decision) => (
        <Decision key={decision.id} decision={decision} zone={zone} />
      ))}
    </Stack>
  );
}

function Decision({ decision, zone }: { decision: WaitlistDecision; zone: string }) {
  const { t, locale } = useI18n(decisionTexts, waitlistTexts);
  const show = (at: Timestamp, there: string) => showTime(at, there, locale, "dayTime");
  return (
    <Card
      title={
        <>
          <Box component="strong" fw={600}>
            {t.decisions.triggers[decision.trigger]}
          </Box>{" "}
          <Dimmed fw={400}>
            <Time at={decision.decideTime} zone={zone} as="full" />
          </Dimmed>
        </>
      }
      extra={<Tag tone={moveTones[decision.move] ?? ""}>{t.decisions.moves[decision.move]}</Tag>}
    >
      <Box fz="sm">
        {describeForStaff(decision, t.decisions, locale, show).map((sentence) => (
          <Text key={sentence} inherit mb={6}>
            {sentence}
          </Text>
        ))}
        <Facts
          mt={10}
          of={decision.verdicts.map((verdict) => [
            <Fragment key="who">
              {verdict.rank}. {verdict.memberName || t.decisions.staff.someone}
              <Box fz="xs">{t.scoring.score(verdict.score)}</Box>
            </Fragment>,
            <Fragment key="verdict">
              <Tag tone={isChosen(verdict) ? "good" : "plain"}>
                {isChosen(verdict) ? t.decisions.staff.chosen : t.decisions.staff.passed}
              </Tag>{" "}
              <Dimmed>{describeVerdict(verdict, decision, t.decisions, show)}</Dimmed>
            </Fragment>,
          ])}
        />
      </Box>
    </Card>
  );
}
