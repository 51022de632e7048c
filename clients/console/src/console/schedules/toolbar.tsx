import { type Session, SessionStatus } from "@berthhq/client";
import { ActionIcon, Box, Button, Group, SegmentedControl, Skeleton } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconChecklist, IconPlus, IconWorld } from "@tabler/icons-react";
import { useCan } from "../../shared/auth/user";
import { showDay, showDays } from "../../shared/format/time";
import { options } from "../../shared/forms/options";
import { useI18n } from "../../shared/i18n";
import { later } from "../../shared/ui/lazy";
import { Tooltip } from "../../shared/ui/overlays";
import { uiTexts } from "../ui/texts";
import { type Range, zoneNote } from "./data";
import { scheduleTexts } from "./texts";
import classes from "./toolbar.module.css";
import { Turn } from "./turn";

const Filters = later(() => import("./filters"), "Filters", {
  fallback: <Skeleton width={295} height={36} />,
});

interface ToolbarProps {
  range: Range;
  sessions: readonly Session[] | undefined;
  narrow: boolean;
  onBulk: () => void;
  onNew: () => void;
}

/** What the schedule shows, and the actions on it. */
export function Toolbar({ range, sessions, narrow, onBulk, onNew }: ToolbarProps) {
  const { t, locale } = useI18n(scheduleTexts, uiTexts);
  const can = useCan();
  const { view, change, turn, showToday } = range;
  useHotkeys([
    ["ArrowLeft", () => turn(-1)],
    ["ArrowRight", () => turn(1)],
    ["t", showToday],
  ]);
  const drafts = sessions?.filter(({ status: state }) => state === SessionStatus.DRAFT).length ?? 0;
  return (
    <>
      <div className={classes.bar}>
        <Turn onToday={showToday} onTurn={turn} />
        <h1 className={classes.title}>
          {range.days === 1
            ? showDay(range.from, locale, "longDay")
            : showDays(range.from, range.from.add({ days: range.days - 1 }), locale)}
        </h1>
        <Box flex={1} />
        <SegmentedControl
          aria-label={t.schedule.view}
          value={view}
          onChange={(value) => change({ view: value })}
          data={options({ week: t.schedule.week, day: t.schedule.day })}
        />
        <Filters range={range} narrow={narrow} />
        {can("session.bulk") &&
          // Publishing comes first as long as there are drafts.
          (drafts > 0 ? (
            <Button variant="default" leftSection={<IconChecklist size={16} />} onClick={onBulk}>
              {t.schedule.publishDrafts(drafts)}
            </Button>
          ) : (
            <Tooltip label={t.schedule.bulk}>
              <ActionIcon variant="default" size={36} aria-label={t.schedule.bulk} onClick={onBulk}>
                <IconChecklist size={17} />
              </ActionIcon>
            </Tooltip>
          ))}
        {can("session.create") && (
          <Button leftSection={<IconPlus size={16} />} onClick={onNew}>
            {t.schedule.newSession}
          </Button>
        )}
      </div>
      <Group gap={14} px={20} pb={10} fz="xs" c="dimmed">
        <Group component="span" gap={5} wrap="nowrap">
          <IconWorld size={14} aria-hidden />
          {range.mixed ? t.schedule.mixedZones : zoneNote(range.zone, locale, t)}
        </Group>
        {sessions && <span>{t.schedule.count(sessions.length)}</span>}
      </Group>
    </>
  );
}
