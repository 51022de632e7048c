import { type Series, SeriesEditScope, type Session, SessionService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { SegmentedControl, Switch } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useCall, useRead } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { MINUTE, plainDay, Temporal, timeOfDay } from "../../shared/time";
import type { Catalog } from "../data";
import { EditForm } from "../form";
import { Fields, inputOf, times, type Values, valuesOf } from "./fields";
import { Repeat } from "./repeat";
import { type Rule, readRule, usual, writeRule } from "./rule";

type Paths = Partial<Record<keyof Values, readonly string[]>>;

/** Paths of the fields that sessions and series share. */
const shared: Paths = {
  serviceId: ["service_id"],
  locationId: ["location_id"],
  resourceId: ["resource_id"],
  coachId: ["coach_id"],
  title: ["title"],
  description: ["description"],
  capacity: ["capacity"],
  unlimited: ["capacity"],
  waitlist: ["waitlist_capacity"],
};

const span = ["start_time", "end_time"];
const ones: Paths = { ...shared, date: span, start: span, length: span };
const alls: Paths = { ...shared, start: ["start_time_of_day"], length: ["duration"] };

const versionOf = (session: Session) => ({ values: valuesOf(session), etag: session.etag });

/** Edits a session, this and the following sessions of its series, or the whole series. */
export function EditSession({
  session,
  catalog,
  onClose,
}: {
  session: Session;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const can = useCan();
  const read = useRead();
  const [scope, setScope] = useState<"one" | "following" | "all">("one");
  const [rule, setRule] = useState<Rule>();
  const series = useQuery(
    SessionService.method.getSeries,
    { seriesId: session.seriesId },
    { enabled: session.seriesId !== "" && can("session.series") },
  );
  const update = useCall(SessionService.method.updateSession, { quiet: true, done: t.done.saved });
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
  const saveOne = (values: Values, paths: Set<string>, etag: string) =>
    update.run({
      sessionId: session.id,
      session: { ...inputOf(values), ...times(values, session.timeZone) },
      updateMask: { paths: [...paths] },
      etag,
    });
  const saveSeries = (values: Values, paths: Set<string>) =>
    updateSeries.run({
      seriesId: session.seriesId,
      sessionId: session.id,
      scope: scope === "all" ? SeriesEditScope.ALL : SeriesEditScope.FOLLOWING,
      template: inputOf(values),
      startTimeOfDay: timeOfDay(values.start),
      duration: durationFromMs(Number(values.length || 60) * MINUTE),
      ...(rule && { rule: writeRule(rule, startOf(values)) }),
      updateMask: { paths: [...paths] },
      etag: series.data?.series?.etag ?? "",
    });
  return (
    <EditForm<Values>
      current={versionOf(session)}
      zone={session.timeZone}
      dirty={scope !== "one" && rule !== undefined}
      names={{
        ...t.fields,
        length: t.fields.minutes,
        serviceId: t.fields.service,
        locationId: t.fields.location,
        resourceId: t.fields.resource,
        coachId: t.fields.coach,
      }}
      show={(key, value) =>
        (key === "coachId" && catalog.coach(String(value))?.name) ||
        (key === "resourceId" && catalog.resource(String(value))?.name) ||
        String(value)
      }
      reread={async () => {
        const answer = await read(SessionService.method.getSession, { sessionId: session.id });
        return versionOf(answer.session ?? session);
      }}
      save={(values, changed, etag) => {
        const single = scope === "one";
        const paths = new Set(changed.flatMap((key) => (single ? ones : alls)[key] ?? []));
        if (single) return saveOne(values, paths, etag);
        if (rule) paths.add("rule");
        return saveSeries(values, paths);
      }}
      onClose={onClose}
    >
      {({ values, set }) => (
        <>
          {session.seriesId && can("session.series") && (
            <SegmentedControl
              fullWidth
              size="sm"
              aria-label={t.schedule.scope}
              value={scope}
              onChange={(value) => setScope(value as typeof scope)}
              data={[
                { value: "one", label: t.schedule.scopeOne },
                { value: "following", label: t.schedule.scopeFollowing },
                { value: "all", label: t.schedule.scopeAll },
              ]}
            />
          )}
          <Fields values={values} set={set} catalog={catalog} fixed />
          {scope !== "one" && series.data?.series && (
            <Pattern
              series={series.data.series}
              start={startOf(values)}
              rule={rule}
              onChange={setRule}
            />
          )}
          {session.seatsTaken > 0 && (
            <p className="muted" style={{ margin: 0, fontSize: 13 }}>
              {t.schedule.bookedMove(session.seatsTaken)}
            </p>
          )}
        </>
      )}
    </EditForm>
  );
}

const dayOf = (date: Series["startDate"]) => date && plainDay(date);

/**
 * The recurrence rule of a series. Hidden until the user opens it, because sessions that no longer
 * match a changed rule are cancelled.
 */
function Pattern({
  series,
  start,
  rule,
  onChange,
}: {
  series: Series;
  /** The first date that the edit applies to. */
  start: Temporal.PlainDate;
  rule: Rule | undefined;
  onChange: (rule: Rule | undefined) => void;
}) {
  const t = useText();
  const read = readRule(series.rule, start);
  return (
    <div className="card body" style={{ padding: 14, display: "grid", gap: 12 }}>
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
    </div>
  );
}
