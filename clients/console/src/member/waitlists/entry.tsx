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
import { sessionsOf } from "../../shared/waitlists/target";
import { decisionTexts } from "../../shared/waitlists/texts";
import { useLocations, useRange, useServices } from "../catalog/data";
import { memberTexts } from "../texts";
import { DayAndTime, Small, SummaryCard } from "../ui";
import { waitlistTexts } from "./texts";

const Explanation = later(() => import("./explanation"), "Explanation", { opener: "opened" });

export function EntryCard({ entry }: { entry: WaitlistEntry }) {
  const t = useText(decisionTexts, memberTexts);
  const windowText = useWindowText(entry);
  const [explaining, explanation] = useDisclosure();
  const { id: entryId, target } = entry;
  const sessions = sessionsOf(entry);
  const services = useServices();
  const service = (id: string) => services.data?.find((service) => service.id === id)?.name ?? "";
  const title =
    target.case === "window" ? service(target.value.serviceId) : (sessions[0]?.title ?? "");
  const leave = useCall(WaitlistService.method.leaveWaitlist, {
    ask: { title: `${t.app.leave}: ${title}?`, yes: t.app.leave, danger: true },
    done: t.app.cancelled,
  });
  return (
    <SummaryCard
      title={title}
      seats={entry.partySize}
      time={
        target.case === "session" ? (
          <DayAndTime at={target.value.startTime} zone={target.value.timeZone} />
        ) : (
          windowText
        )
      }
      notes={
        <>
          {entry.position !== undefined && (
            <Box mt={6}>
              <Tag tone="warn">{t.app.waitlisted(entry.position)}</Tag>
            </Box>
          )}
          {t.decisions.you.next[entry.mode] && (
            <Small mt={6}>{t.decisions.you.next[entry.mode]}</Small>
          )}
          {entry.passedOverReason > 0 && (
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
            aria-label={`${t.decisions.you.ask} ${title}`}
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
function useWindowText(entry: WaitlistEntry): string {
  const { target, coachId } = entry;
  const window = target.case === "window" ? target.value : undefined;
  const { t, locale } = useI18n(memberTexts, waitlistTexts);
  const locations = useLocations(Boolean(window));
  const startsWithin = useRange(0, 28 * DAY);
  // A session of the coach has their name.
  const coachSessions = useQuery(
    SessionService.method.listSessions,
    { filter: { coachIds: [coachId], startsWithin }, pageSize: 1 },
    { enabled: coachId !== "", staleTime: 60_000 },
  );
  if (!window) return t.timeWindow.anyOf(sessionsOf(entry).length);
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
