import { SessionService, type WaitlistEntry, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useCall } from "../../shared/api/calls";
import { type CivilDay, DAY, plainDay, showDay, wallClock } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { Tag } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { memberReason } from "../../shared/waitlists/decisions";
import { decisionTexts } from "../../shared/waitlists/texts";
import { useLocations, useRange } from "../catalog/data";
import { memberTexts } from "../texts";
import { DayAndTime, Small, SummaryCard } from "../ui";
import { waitlistTexts } from "./texts";

const Explanation = later(() => import("./explanation"), "Explanation", { opener: "opened" });

export function EntryCard({ entry }: { entry: WaitlistEntry }) {
  const t = useText(decisionTexts, memberTexts);
  const windowText = useWindowText(entry);
  const [explaining, explanation] = useDisclosure();
  const { id: entryId, sessionTitle, sessionStartTime, timeZone } = entry;
  const leave = useCall(WaitlistService.method.leaveWaitlist, {
    ask: { title: `${t.app.leave}: ${sessionTitle}?`, yes: t.app.leave, danger: true },
    done: t.app.cancelled,
  });
  return (
    <SummaryCard
      title={sessionTitle}
      seats={entry.partySize}
      time={entry.sessionId ? <DayAndTime at={sessionStartTime} zone={timeZone} /> : windowText}
      notes={
        <>
          <Box mt={6}>
            <Tag tone="warn">{t.app.waitlisted(entry.position)}</Tag>
          </Box>
          {entry.passedOverReason && (
            <Small mt={6}>
              {t.common.skipped(memberReason(entry.passedOverReason, t.decisions))}
            </Small>
          )}
        </>
      }
      actions={
        <>
          <Button variant="default" onClick={() => void leave.run({ entryId })}>
            {t.app.leave}
          </Button>
          <Button
            variant="subtle"
            onClick={explanation.open}
            aria-label={`${t.decisions.you.ask} ${sessionTitle}`}
          >
            {t.decisions.you.ask}
          </Button>
        </>
      }
    >
      <Explanation entryId={entryId} opened={explaining} onClose={explanation.close} />
    </SummaryCard>
  );
}

/** Describes a time window: "Mon, 16 Mar to Fri, 20 Mar, 08:00 to 10:00". */
function useWindowText({ window, sessionIds, coachId }: WaitlistEntry): string {
  const { t, locale } = useI18n(memberTexts, waitlistTexts);
  const locations = useLocations(Boolean(window));
  const startsWithin = useRange(0, 28 * DAY);
  // A session of the coach has their name.
  const coachSessions = useQuery(
    SessionService.method.listSessions,
    { filter: { coachIds: [coachId], startsWithin }, pageSize: 1 },
    { enabled: coachId !== "", staleTime: 60_000 },
  );
  if (!window) return t.timeWindow.anyOf(sessionIds.length);
  const day = (date: CivilDay | undefined) => (date ? showDay(plainDay(date), locale, "day") : "");
  const { firstDate, lastDate, earliestStart, latestStart, locationId } = window;
  const earliest = wallClock(earliestStart);
  const latest = latestStart ? wallClock(latestStart) : "23:59";
  const allDay = earliest === "00:00" && latest === "23:59";
  const coach = coachSessions.data?.sessions[0]?.coachName;
  return [
    t.timeWindow.days(day(firstDate), day(lastDate ?? firstDate)),
    allDay ? t.timeWindow.anyTime : t.timeWindow.times(earliest, latest),
    coach && t.app.with(coach),
    locations.data?.find(({ id }) => id === locationId)?.name,
  ]
    .filter(Boolean)
    .join(", ");
}
