import type { ExplainSessionResponse, WaitlistDecision } from "@berthhq/client";
import { Box, Stack, Text } from "@mantine/core";
import { Fragment } from "react";
import { useI18n, useText } from "../../i18n";
import { useDecisionTexts } from "../../i18n/decisions";
import { showTime, type Timestamp } from "../../shared/format/time";
import { Card, State, Tag, Time, type Tone } from "../../shared/ui";
import { describeForStaff, describeVerdict, isChosen } from "../../shared/waitlists/decisions";
import { Dimmed, Facts } from "../ui";

interface DecisionsProps {
  explanation: ExplainSessionResponse;
  zone: string;
}

/** All decisions, with the verdict on each entry. */
export function Decisions({ explanation, zone }: DecisionsProps) {
  const t = useText();
  if (explanation.decisions.length === 0) return <State title={t.offers.noMoves} />;
  return (
    <Stack gap={18}>
      {[...explanation.decisions].reverse().map((decision) => (
        <Decision key={decision.id} decision={decision} zone={zone} />
      ))}
    </Stack>
  );
}

const moveTones: Record<number, Tone> = { 1: "warn", 2: "good", 3: "accent", 4: "warn" };

function Decision({ decision, zone }: { decision: WaitlistDecision; zone: string }) {
  const texts = useDecisionTexts();
  const { t, locale } = useI18n();
  const show = (at: Timestamp, there: string) => showTime(at, there, locale, "dayTime");
  return (
    <Card
      title={
        <>
          <Box component="strong" fw={600}>
            {texts.triggers[decision.trigger]}
          </Box>{" "}
          <Dimmed fw={400}>
            <Time at={decision.decideTime} zone={zone} as="full" />
          </Dimmed>
        </>
      }
      extra={<Tag tone={moveTones[decision.move] ?? ""}>{texts.moves[decision.move]}</Tag>}
    >
      <Box fz="sm">
        {describeForStaff(decision, texts, locale, show).map((sentence) => (
          <Text key={sentence} inherit mb={6}>
            {sentence}
          </Text>
        ))}
        <Facts
          mt={10}
          of={decision.verdicts.map((verdict) => [
            <Fragment key="who">
              {verdict.rank}. {verdict.memberName || texts.staff.someone}
              <Box fz="xs">{t.scoring.score(verdict.score)}</Box>
            </Fragment>,
            <Fragment key="verdict">
              <Tag tone={isChosen(verdict) ? "good" : "plain"}>
                {isChosen(verdict) ? texts.staff.chosen : texts.staff.passed}
              </Tag>{" "}
              <Dimmed>{describeVerdict(verdict, decision, texts, show)}</Dimmed>
            </Fragment>,
          ])}
        />
      </Box>
    </Card>
  );
}
