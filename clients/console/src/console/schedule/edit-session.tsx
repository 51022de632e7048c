import {
  ErrorReason,
  type Series,
  SeriesEditScope,
  type Session,
  SessionService,
} from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { Alert, Button, SegmentedControl, Switch } from "@mantine/core";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDo, useFailed } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain, reasonOf } from "../../shared/errors";
import { useCan } from "../../shared/root";
import { MINUTE, parseClock, Temporal } from "../../shared/time";
import { Conflict } from "../conflict";
import type { Catalog } from "../data";
import { Fields, inputOf, times, type Values, valuesOf } from "./fields";
import { Repeat } from "./repeat";
import { readRule, type Weekly, writeRule } from "./rule";

const fields = {
  serviceId: "service_id",
  resourceId: "resource_id",
  coachId: "coach_id",
  title: "title",
  description: "description",
  locationId: "location_id",
} as const;

/** Edits a session, or with it those after it, or its whole series. */
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
  const { locale } = useSpeech();
  const can = useCan();
  const transport = useTransport();
  const fail = useFailed();
  const [scope, setScope] = useState<"one" | "following" | "all">("one");
  const [rule, setRule] = useState<Weekly>();
  const [error, setError] = useState<unknown>();
  const series = useQuery(
    SessionService.method.getSeries,
    { seriesId: session.seriesId },
    { enabled: session.seriesId !== "" && can("session.series") },
  );
  const update = useDo(SessionService.method.updateSession, { quiet: true, done: t.done.saved });
  const updateSeries = useDo(SessionService.method.updateSeries, {
    quiet: true,
    done: ({ updatedSessionIds, createdSessionIds, cancelledSessionIds }) =>
      t.schedule.seriesSaved(
        updatedSessionIds.length,
        createdSessionIds.length,
        cancelledSessionIds.length,
      ),
  });
  const version = (of: Session) => ({ values: valuesOf(of), etag: of.etag });
  const editing = useEditing<Values>({
    current: version(session),
    failed: (thrown) => {
      if (reasonOf(thrown) === ErrorReason.UNSPECIFIED) fail(thrown);
      setError(thrown);
    },
    reread: async () => {
      const answer = await callUnaryMethod(transport, SessionService.method.getSession, {
        sessionId: session.id,
      });
      return version(answer.session ?? session);
    },
    save: async (values, changed, etag) => {
      const paths = new Set<string>();
      for (const key of changed) {
        if (key in fields) paths.add(fields[key as keyof typeof fields]);
        if (key === "capacity" || key === "unlimited") paths.add("capacity");
        if (key === "waitlist") paths.add("waitlist_capacity");
      }
      if (scope === "one") {
        const timed = ["date", "start", "length"].some((key) =>
          changed.includes(key as keyof Values),
        );
        if (timed) paths.add("start_time").add("end_time");
        await update.run({
          sessionId: session.id,
          session: { ...inputOf(values), ...times(values, session.timeZone) },
          updateMask: { paths: [...paths] },
          etag,
        });
        return;
      }
      const minute = parseClock(values.start) ?? 0;
      if (changed.includes("start")) paths.add("start_time_of_day");
      if (changed.includes("length")) paths.add("duration");
      await updateSeries.run({
        seriesId: session.seriesId,
        sessionId: session.id,
        scope: scope === "all" ? SeriesEditScope.ALL : SeriesEditScope.FOLLOWING,
        template: inputOf(values),
        startTimeOfDay: { hours: Math.floor(minute / 60), minutes: minute % 60 },
        duration: durationFromMs(Number(values.length || 60) * MINUTE),
        ...(rule && { rule: writeRule(rule) }),
        updateMask: { paths: [...paths, ...(rule ? ["rule"] : [])] },
        etag: series.data?.series?.etag ?? "",
      });
    },
  });
  const { values, set, changed, theirs } = editing;
  const changes = changed.length + (scope !== "one" && rule ? 1 : 0);
  const names: Partial<Record<keyof Values, string>> = {
    ...t.fields,
    length: t.fields.minutes,
    serviceId: t.fields.service,
    locationId: t.fields.location,
    resourceId: t.fields.resource,
    coachId: t.fields.coach,
  };
  const shown = (key: keyof Values, value: unknown) =>
    (key === "coachId" && catalog.coach(String(value))?.name) ||
    (key === "resourceId" && catalog.resource(String(value))?.name) ||
    String(value);

  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit().then((saved) => saved && onClose());
      }}
    >
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
      <Conflict theirs={theirs} names={names} show={shown} onTake={editing.takeTheirs} />
      <Fields values={values} set={set} catalog={catalog} fixed />
      {scope !== "one" && series.data?.series && (
        <Pattern
          series={series.data.series}
          from={scope === "all" ? undefined : values.date}
          rule={rule}
          onChange={setRule}
        />
      )}
      {error !== undefined && (
        <Alert color="red">{explain(error, t, locale, session.timeZone)}</Alert>
      )}
      {session.seatsTaken > 0 && (
        <p className="muted" style={{ margin: 0, fontSize: 13 }}>
          {t.schedule.bookedMove(session.seatsTaken)}
        </p>
      )}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={editing.saving} disabled={changes === 0}>
          {t.actions.save}
        </Button>
      </div>
    </form>
  );
}

/** On which days a series goes on. It is edited only when somebody asks for it: sessions that a new pattern drops are called off. */
function Pattern({
  series,
  from,
  rule,
  onChange,
}: {
  series: Series;
  /** The day from which on the edit holds. Absent: the series' first. */
  from: string | undefined;
  rule: Weekly | undefined;
  onChange: (rule: Weekly | undefined) => void;
}) {
  const t = useText();
  const read = readRule(series.rule);
  const dayOf = (date: Series["startDate"]) =>
    date
      ? Temporal.PlainDate.from({ year: date.year, month: date.month, day: date.day })
      : undefined;
  const start = from ?? dayOf(series.startDate)?.toString() ?? "";
  return (
    <div className="card body" style={{ padding: 14, display: "grid", gap: 12 }}>
      <Switch
        label={t.board.changeDays}
        description={read ? t.board.changeDaysNote : t.board.otherRule(series.rule)}
        disabled={!read}
        checked={rule !== undefined}
        onChange={(event) => {
          const last = dayOf(series.materializedUntil)?.toString() ?? start;
          // A number of sessions would begin anew where the series is split; its last day stays what it is.
          onChange(
            event.currentTarget.checked && read ? { ...read, end: { until: last } } : undefined,
          );
        }}
      />
      {rule && <Repeat rule={rule} onChange={onChange} start={start} />}
    </div>
  );
}
