import { ErrorReason, SeriesEditScope, type Session, SessionService } from "@berthhq/client";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Checkbox,
  Chip,
  Drawer,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { DateInput, TimeInput } from "@mantine/dates";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDo, useFailed } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain, reasonOf } from "../../shared/errors";
import { useCan } from "../../shared/root";
import {
  atWallClock,
  MINUTE,
  millis,
  minuteOfDay,
  parseClock,
  showClock,
  showDay,
  Temporal,
  zoned,
  zoneName,
} from "../../shared/time";
import { Conflict } from "../conflict";
import type { Catalog } from "../data";
import { occurrences, type Weekday, weekdays, writeRule } from "./rule";

/** What is known of a session before somebody has filled in the form. */
export interface Draft {
  readonly date: string;
  readonly start: string;
  readonly locationId: string;
  readonly resourceId?: string;
  readonly coachId?: string;
}

interface Values {
  serviceId: string;
  locationId: string;
  resourceId: string;
  coachId: string;
  title: string;
  description: string;
  date: string;
  start: string;
  /** Minutes. */
  length: number | "";
  capacity: number | "";
  unlimited: boolean;
  waitlist: number | "";
}

const fields = {
  serviceId: "service_id",
  resourceId: "resource_id",
  coachId: "coach_id",
  title: "title",
  description: "description",
  locationId: "location_id",
} as const;

function zoneOf(catalog: Catalog, locationId: string): string {
  return catalog.location(locationId)?.timeZone ?? "UTC";
}

/** The fields that single sessions and series have in common. */
function Fields({
  values,
  set,
  catalog,
  fixed,
}: {
  values: Values;
  set: (part: Partial<Values>) => void;
  catalog: Catalog;
  /** Service and place stay. */
  fixed?: boolean;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const can = useCan();
  const zone = zoneOf(catalog, values.locationId);
  const choices = (list: readonly { id: string; name: string; active?: boolean }[], kept: string) =>
    list
      .filter(({ id, active }) => active !== false || id === kept)
      .map(({ id, name }) => ({ value: id, label: name }));
  const resources = catalog.resources.filter(({ locationId }) => locationId === values.locationId);
  return (
    <>
      <div className="two">
        <Select
          label={t.fields.service}
          required
          searchable
          disabled={Boolean(fixed)}
          data={choices(catalog.services, values.serviceId)}
          value={values.serviceId || null}
          onChange={(id) => {
            const service = catalog.service(id ?? "");
            if (!service) return;
            set({
              serviceId: service.id,
              length: Number(service.duration?.seconds ?? 3600) / 60,
              capacity: service.defaultCapacity ?? "",
              unlimited: service.defaultCapacity === undefined,
              waitlist: service.defaultWaitlistCapacity,
            });
          }}
          data-autofocus={!fixed}
        />
        <Select
          label={t.fields.location}
          required
          allowDeselect={false}
          disabled={Boolean(fixed)}
          data={choices(catalog.locations, values.locationId)}
          value={values.locationId || null}
          onChange={(id) => set({ locationId: id ?? "", resourceId: "" })}
        />
      </div>
      <div className="two">
        <DateInput
          label={t.fields.date}
          required
          value={values.date}
          valueFormat="DD MMM YYYY"
          onChange={(date) => set({ date: date ?? values.date })}
        />
        <div className="two">
          <TimeInput
            label={t.fields.start}
            required
            value={values.start}
            onChange={(event) => set({ start: event.currentTarget.value })}
          />
          <NumberInput
            label={t.fields.minutes}
            required
            min={1}
            max={10_080}
            step={5}
            value={values.length}
            onChange={(length) => set({ length: typeof length === "number" ? length : "" })}
          />
        </div>
      </div>
      <p className="muted" style={{ margin: "-8px 0 0", fontSize: 12 }}>
        {t.schedule.zone(zone.replaceAll("_", " "), zoneName(zone, locale))}
      </p>
      <div className="two">
        <Select
          label={t.fields.coach}
          clearable
          searchable
          disabled={!can("member.read")}
          data={choices(catalog.staff, values.coachId)}
          value={values.coachId || null}
          onChange={(id) => set({ coachId: id ?? "" })}
        />
        <Select
          label={t.fields.resource}
          clearable
          disabled={resources.length === 0}
          placeholder={resources.length === 0 ? t.schedule.noResources : ""}
          data={choices(resources, values.resourceId)}
          value={values.resourceId || null}
          onChange={(id) => set({ resourceId: id ?? "" })}
        />
      </div>
      <div className="two">
        <div>
          <NumberInput
            label={t.fields.capacity}
            min={0}
            max={100_000}
            disabled={values.unlimited}
            value={values.unlimited ? "" : values.capacity}
            onChange={(capacity) => set({ capacity: typeof capacity === "number" ? capacity : "" })}
          />
          <Checkbox
            mt={8}
            size="xs"
            label={t.fields.unlimited}
            checked={values.unlimited}
            onChange={(event) => set({ unlimited: event.currentTarget.checked })}
          />
        </div>
        <NumberInput
          label={t.fields.waitlist}
          min={0}
          max={10_000}
          value={values.waitlist}
          onChange={(waitlist) => set({ waitlist: typeof waitlist === "number" ? waitlist : "" })}
        />
      </div>
      <TextInput
        label={t.fields.title}
        placeholder={catalog.service(values.serviceId)?.name ?? ""}
        maxLength={200}
        value={values.title}
        onChange={(event) => set({ title: event.currentTarget.value })}
      />
      <Textarea
        label={t.fields.description}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4000}
        value={values.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
    </>
  );
}

/** What the contract calls these values. */
function inputOf(values: Values) {
  return {
    serviceId: values.serviceId,
    locationId: values.locationId,
    resourceId: values.resourceId,
    coachId: values.coachId,
    title: values.title.trim(),
    description: values.description,
    unlimited: values.unlimited,
    ...(!values.unlimited && values.capacity !== "" && { capacity: values.capacity }),
    ...(values.waitlist !== "" && { waitlistCapacity: values.waitlist }),
  };
}

function times(values: Values, zone: string) {
  const minute = parseClock(values.start) ?? 0;
  const startTime = atWallClock(Temporal.PlainDate.from(values.date), minute, zone);
  const endTime = timestampFromMs(millis(startTime) + Number(values.length || 60) * MINUTE);
  return { startTime, endTime };
}

/** Makes a session, or a series of them. */
export function SessionDrawer({
  draft,
  catalog,
  onClose,
  onMade,
}: {
  draft: Draft | undefined;
  catalog: Catalog;
  onClose: () => void;
  onMade: (session: { id: string; title: string }) => void;
}) {
  const t = useText();
  return (
    <Drawer opened={draft !== undefined} onClose={onClose} title={t.schedule.newSession}>
      {draft && <NewSession draft={draft} catalog={catalog} onMade={onMade} onClose={onClose} />}
    </Drawer>
  );
}

function NewSession({
  draft,
  catalog,
  onMade,
  onClose,
}: {
  draft: Draft;
  catalog: Catalog;
  onMade: (session: { id: string; title: string }) => void;
  onClose: () => void;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const can = useCan();
  const [values, setValues] = useState<Values>({
    serviceId: "",
    locationId: draft.locationId || (catalog.resource(draft.resourceId ?? "")?.locationId ?? ""),
    resourceId: draft.resourceId ?? "",
    coachId: draft.coachId ?? "",
    title: "",
    description: "",
    date: draft.date,
    start: draft.start,
    length: 60,
    capacity: "",
    unlimited: false,
    waitlist: "",
  });
  const set = (part: Partial<Values>) => setValues((before) => ({ ...before, ...part }));
  const weekday = weekdays[Temporal.PlainDate.from(values.date).dayOfWeek - 1] ?? "MO";
  const [repeats, setRepeats] = useState(false);
  const [days, setDays] = useState<Weekday[]>([weekday]);
  const [count, setCount] = useState<number | "">(24);
  const [publish, setPublish] = useState(can("session.publish"));
  const [error, setError] = useState<unknown>();
  const create = useDo(SessionService.method.createSession, { quiet: true });
  const series = useDo(SessionService.method.createSeries, { quiet: true });
  const zone = zoneOf(catalog, values.locationId);
  const rule = {
    days: days.length > 0 ? days : [weekday],
    every: 1,
    end: { count: Number(count || 1) },
  };
  const first = occurrences(Temporal.PlainDate.from(values.date), rule, 1000);
  const title = values.title.trim() || (catalog.service(values.serviceId)?.name ?? "");

  const submit = async () => {
    setError(undefined);
    const minute = parseClock(values.start);
    try {
      if (repeats) {
        const { year, month, day } = Temporal.PlainDate.from(values.date);
        const answer = await series.run({
          template: inputOf(values),
          rule: writeRule(rule),
          startDate: { year, month, day },
          startTimeOfDay: { hours: Math.floor((minute ?? 0) / 60), minutes: (minute ?? 0) % 60 },
          duration: durationFromMs(Number(values.length || 60) * MINUTE),
          publish,
        });
        onMade({ id: answer?.sessionIds[0] ?? "", title });
      } else {
        const answer = await create.run({
          session: { ...inputOf(values), ...times(values, zone) },
          publish,
        });
        onMade({ id: answer?.session?.id ?? "", title });
      }
    } catch (thrown) {
      setError(thrown);
    }
  };

  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Fields values={values} set={set} catalog={catalog} />
      {can("session.series") && (
        <div className="card body" style={{ padding: 14, display: "grid", gap: 12 }}>
          <Switch
            label={t.schedule.repeats}
            checked={repeats}
            onChange={(event) => setRepeats(event.currentTarget.checked)}
          />
          {repeats && (
            <>
              <Chip.Group multiple value={days} onChange={(value) => setDays(value as Weekday[])}>
                <div style={{ display: "flex", gap: 6, flexWrap: "wrap" }}>
                  {weekdays.map((day, at) => (
                    <Chip key={day} value={day} size="xs">
                      {showDay(
                        Temporal.PlainDate.from("2024-01-01").add({ days: at }),
                        locale,
                        "weekday",
                      )}
                    </Chip>
                  ))}
                </div>
              </Chip.Group>
              <NumberInput
                label={t.schedule.howMany}
                min={1}
                max={1000}
                value={count}
                onChange={(value) => setCount(typeof value === "number" ? value : "")}
              />
              <p className="muted" style={{ margin: 0, fontSize: 13 }} aria-live="polite">
                {t.schedule.seriesPreview(
                  first.length,
                  first[0] ? showDay(first[0], locale, "date") : "",
                  showDay(first.at(-1) ?? Temporal.PlainDate.from(values.date), locale, "date"),
                )}
              </p>
            </>
          )}
        </div>
      )}
      {error !== undefined && <Alert color="red">{explain(error, t, locale, zone)}</Alert>}
      <div className="end">
        {can("session.publish") && (
          <Switch
            mr="auto"
            style={{ alignSelf: "center" }}
            label={t.schedule.publishNow}
            checked={publish}
            onChange={(event) => setPublish(event.currentTarget.checked)}
          />
        )}
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button
          type="submit"
          loading={create.busy || series.busy}
          disabled={!values.serviceId || !values.locationId}
        >
          {repeats ? t.schedule.makeMany(first.length) : t.actions.create}
        </Button>
      </div>
    </form>
  );
}

function valuesOf(session: Session): Values {
  const start = session.startTime && zoned(session.startTime, session.timeZone);
  return {
    serviceId: session.serviceId,
    locationId: session.locationId,
    resourceId: session.resourceId,
    coachId: session.coachId,
    title: session.title,
    description: session.description,
    date: start?.toPlainDate().toString() ?? "",
    start: start ? showClock(minuteOfDay(start)) : "",
    length: (millis(session.endTime) - millis(session.startTime)) / MINUTE,
    capacity: session.capacity ?? "",
    unlimited: session.capacity === undefined,
    waitlist: session.waitlistCapacity,
  };
}

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
  const [error, setError] = useState<unknown>();
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
        updateMask: { paths: [...paths] },
      });
    },
  });
  const { values, set, changed, theirs } = editing;
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
        <Button type="submit" loading={editing.saving} disabled={changed.length === 0}>
          {t.actions.save}
        </Button>
      </div>
    </form>
  );
}
