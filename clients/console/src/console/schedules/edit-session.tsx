import { type Series, SeriesEditScope, type Session, SessionService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { SegmentedControl, Stack, Switch } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { MINUTE, plainDay, Temporal, timeOfDay } from "../../shared/format/time";
import { options } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { useCatalog } from "../catalog/loaded";
import { SmallHint } from "../ui";
import { EditForm, maskOf, useSave } from "../ui/edit-form";
import { Fields, inputOf, namesOf, times, type Values, valuesOf } from "./fields";
import { Repeat } from "./repeat";
import { type Rule, readRule, usual, writeRule } from "./rule";
import { scheduleTexts } from "./texts";

type Paths = Partial<Record<keyof Values, readonly string[]>>;

/** Fields that have another name in an update mask. */
const renamed: Paths = { unlimited: ["capacity"], waitlist: ["waitlist_capacity"] };
const span = ["start_time", "end_time"];
const ofSession: Paths = { ...renamed, date: span, start: span, length: span };
const ofSeries: Paths = {
  ...renamed,
  date: [],
  start: ["start_time_of_day"],
  length: ["duration"],
};

interface EditSessionProps {
  session: Session;
  onClose: () => void;
}

/** Edits a session, this and the following sessions of its series, or the whole series. */
export function EditSession({ session, onClose }: EditSessionProps) {
  const t = useText(scheduleTexts);
  const can = useCan();
  const catalog = useCatalog();
  const [scope, setScope] = useState<"one" | "following" | "all">("one");
  const [rule, setRule] = useState<Rule>();
  const series = useQuery(
    SessionService.method.getSeries,
    { seriesId: session.seriesId },
    { enabled: session.seriesId !== "" && can("session.series") },
  );
  const update = useSave(SessionService.method.updateSession);
  const updateSeries = useCall(SessionService.method.updateSeries, {
    quiet: true,
    done: ({ updatedSessionIds, createdSessionIds, cancelledSessionIds }) =>
      t.schedule.seriesSaved(
        updatedSessionIds.length,
        createdSessionIds.length,
        cancelledSessionIds.length,
      ),
  });
  /** The first date of a new recurrence rule. */
  const startOf = ({ date }: Values) =>
    (scope === "all" && dayOf(series.data?.series?.startDate)) || Temporal.PlainDate.from(date);
  const saveSeries = (values: Values, paths: string[]) =>
    updateSeries.run({
      seriesId: session.seriesId,
      sessionId: session.id,
      scope: scope === "all" ? SeriesEditScope.ALL : SeriesEditScope.FOLLOWING,
      series: {
        ...inputOf(values),
        startTimeOfDay: timeOfDay(values.start),
        duration: durationFromMs(Number(values.length || 60) * MINUTE),
        ...(rule && { rule: writeRule(rule, startOf(values)) }),
      },
      updateMask: { paths: rule ? [...paths, "rule"] : paths },
      etag: series.data?.series?.etag ?? "",
    });
  return (
    <EditForm
      entity={session}
      valuesOf={valuesOf}
      zone={session.timeZone}
      dirty={scope !== "one" && rule !== undefined}
      names={namesOf(t)}
      show={(key, value) =>
        (key === "coachId" && catalog.coach(String(value))?.name) ||
        (key === "resourceId" && catalog.resource(String(value))?.name) ||
        String(value)
      }
      pathOf={(key) => (scope === "one" ? ofSession : ofSeries)[key] ?? maskOf(key)}
      save={(values, { updateMask, etag }) =>
        scope === "one"
          ? update({
              sessionId: session.id,
              session: { ...inputOf(values), ...times(values, session.timeZone) },
              updateMask,
              etag,
            })
          : saveSeries(values, updateMask.paths)
      }
      onClose={onClose}
    >
      {(form) => (
        <>
          {session.seriesId && can("session.series") && (
            <SegmentedControl
              fullWidth
              aria-label={t.schedule.scope}
              value={scope}
              onChange={setScope}
              data={options({
                one: t.schedule.scopeOne,
                following: t.schedule.scopeFollowing,
                all: t.schedule.scopeAll,
              })}
            />
          )}
          <Fields form={form} fixed />
          {scope !== "one" && series.data?.series && (
            <Pattern
              series={series.data.series}
              start={startOf(form.values)}
              rule={rule}
              onChange={setRule}
            />
          )}
          {session.seatsTaken > 0 && (
            <SmallHint>{t.schedule.bookedMove(session.seatsTaken)}</SmallHint>
          )}
        </>
      )}
    </EditForm>
  );
}

const dayOf = (date: Series["startDate"]) => date && plainDay(date);

interface PatternProps {
  series: Series;
  /** The first date that the edit applies to. */
  start: Temporal.PlainDate;
  rule: Rule | undefined;
  onChange: (rule: Rule | undefined) => void;
}

/**
 * The recurrence rule of a series. Hidden until the user opens it, because sessions that no longer
 * match a changed rule are cancelled.
 */
function Pattern({ series, start, rule, onChange }: PatternProps) {
  const t = useText(scheduleTexts);
  const read = readRule(series.rule, start);
  return (
    <Card>
      <Stack gap={12}>
        <Switch
          label={t.board.changeDays}
          description={read ? t.board.changeDaysNote : t.board.otherRule(series.rule)}
          checked={rule !== undefined}
          onChange={(event) => {
            const last = dayOf(series.materializedUntil) ?? start;
            // A COUNT would start over where the series is split, so the rule ends at its last date.
            const end = { until: last.toString() };
            onChange(event.currentTarget.checked ? { ...(read ?? usual(start)), end } : undefined);
          }}
        />
        {rule && <Repeat rule={rule} onChange={onChange} start={start.toString()} />}
      </Stack>
    </Card>
  );
}
