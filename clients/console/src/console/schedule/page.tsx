import { type Session, SessionService, SessionState } from "@berthhq/client";
import { ActionIcon, Button, SegmentedControl, Select, Skeleton } from "@mantine/core";
import { useHotkeys, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import {
  IconChecklist,
  IconChevronLeft,
  IconChevronRight,
  IconPlus,
  IconWorld,
} from "@tabler/icons-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { type Messages, useSpeech, useText } from "../../i18n";
import { useDo } from "../../shared/calls";
import { useCan, useMe } from "../../shared/root";
import {
  atWallClock,
  here,
  millis,
  minuteOfDay,
  sameClock,
  showClock,
  showDay,
  Temporal,
  today,
  weekStart,
  zoned,
  zoneName,
} from "../../shared/time";
import { Failure, State } from "../../shared/ui";
import { type Catalog, dayOf, useCatalog, useSchedule } from "../data";
import { BulkDrawer } from "./bulk";
import { confirmMove } from "./confirm";
import { type Column, type Drop, SlotText, slotClass, spanOf, TimeGrid } from "./grid";
import { type Draft, SessionDrawer } from "./session-form";

type View = "week" | "day";
type Group = "location" | "resource" | "coach";

/** The minute, for the line of now. */
function useMinute(): number {
  const [minute, setMinute] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setMinute(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return minute;
}

export function SchedulePage() {
  const catalog = useCatalog();
  if (catalog.data) return <Schedule catalog={catalog.data} />;
  if (catalog.error) return <Failure error={catalog.error} retry={catalog.refetch} />;
  return <GridSkeleton />;
}

function GridSkeleton() {
  return (
    <div style={{ padding: 20, display: "grid", gap: 14 }}>
      <Skeleton height={34} width={420} />
      <Skeleton height="70vh" radius="lg" />
    </div>
  );
}

function Schedule({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { locale } = useSpeech();
  const can = useCan();
  const { tenant } = useMe();
  const go = useNavigate();
  const now = useMinute();
  const [params, setParams] = useSearchParams();
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const places = catalog.locations.filter(({ active }) => active);
  const [kept, keep] = useLocalStorage({ key: "berth.location", defaultValue: "" });
  const mixedZones = new Set(places.map(({ timeZone }) => timeZone)).size > 1;
  // One clock at a time is easier to read, so several are shown on demand only.
  const first = mixedZones || places.length === 1 ? (places[0]?.id ?? "") : "";
  const chosen = params.get("location") ?? kept;
  const locationId = catalog.location(chosen) ? chosen : chosen === "all" ? "" : first;
  const location = catalog.location(locationId);
  const zone = location?.timeZone ?? tenant.timeZone;
  const view = (params.get("view") as View | null) ?? "week";
  const group = (params.get("by") as Group | null) ?? "location";
  const day = readDay(params.get("date")) ?? today(zone, now);
  const [from, days] = view === "week" ? [weekStart(day), 7] : [day, 1];
  const fromText = from.toString();
  const firstDay = useMemo(() => Temporal.PlainDate.from(fromText), [fromText]);
  const sessions = useSchedule(firstDay, days, locationId);
  const [draft, setDraft] = useState<Draft>();
  const [bulk, setBulk] = useState(false);

  const change = useCallback(
    (part: Record<string, string | undefined>) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(part)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  const turn = (by: number) => change({ date: from.add({ days: by * days }).toString() });
  const begin = (at?: Drop) => {
    const start = at?.minute ?? 18 * 60;
    const column = view === "week" ? undefined : at?.column;
    setDraft({
      date: view === "week" && at ? at.column : day.toString(),
      start: showClock(start),
      locationId: (group === "location" && column) || locationId || (places[0]?.id ?? ""),
      ...(group === "resource" && column && { resourceId: column }),
      ...(group === "coach" && column && { coachId: column }),
    });
  };
  useHotkeys([
    ["ArrowLeft", () => turn(-1)],
    ["ArrowRight", () => turn(1)],
    ["t", () => change({ date: undefined })],
    ["n", () => can("session.create") && begin()],
  ]);
  const wantsNew = params.get("new");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when somebody came to make a session
  useEffect(() => {
    if (!wantsNew) return;
    change({ new: undefined });
    begin();
  }, [wantsNew]);

  const columns = useColumns(sessions.data ?? [], {
    view,
    group,
    from: firstDay,
    catalog,
    now,
    zone,
    locationId,
  });
  const move = useMove(catalog, view, group);
  const movable = useCallback(
    (session: Session) => can("session.update") && session.state !== SessionState.CANCELLED,
    [can],
  );
  const drafts = sessions.data?.filter(({ state }) => state === SessionState.DRAFT).length ?? 0;
  const mixed = !location && mixedZones;

  return (
    <div className="sched">
      <div className="sched-bar">
        <Button variant="default" size="sm" onClick={() => change({ date: undefined })}>
          {t.schedule.today}
        </Button>
        <ActionIcon.Group>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={t.schedule.before}
            onClick={() => turn(-1)}
          >
            <IconChevronLeft size={17} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={t.schedule.after}
            onClick={() => turn(1)}
          >
            <IconChevronRight size={17} />
          </ActionIcon>
        </ActionIcon.Group>
        <h1>{titleOf(from, days, locale)}</h1>
        <span className="gap" />
        <SegmentedControl
          size="sm"
          aria-label={t.schedule.view}
          value={view}
          onChange={(value) => change({ view: value === "week" ? undefined : value })}
          data={[
            { value: "week", label: t.schedule.week },
            { value: "day", label: t.schedule.day },
          ]}
        />
        {view === "day" && (
          <Select
            size="sm"
            w={150}
            aria-label={t.schedule.by}
            allowDeselect={false}
            value={group}
            onChange={(value) => change({ by: value ?? undefined })}
            data={[
              { value: "location", label: t.schedule.byLocation },
              { value: "resource", label: t.schedule.byResource },
              { value: "coach", label: t.schedule.byCoach },
            ]}
          />
        )}
        {places.length > 1 && (
          <Select
            size="sm"
            w={170}
            aria-label={t.fields.location}
            allowDeselect={false}
            value={locationId || "all"}
            onChange={(value) => {
              keep(value ?? "");
              change({ location: undefined });
            }}
            data={[
              { value: "all", label: t.schedule.allLocations },
              ...places.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        )}
        {can("session.bulk") && (
          <Button
            variant="default"
            size="sm"
            leftSection={<IconChecklist size={16} />}
            onClick={() => setBulk(true)}
          >
            {drafts > 0 ? t.schedule.publishDrafts(drafts) : t.schedule.bulk}
          </Button>
        )}
        {can("session.create") && (
          <Button size="sm" leftSection={<IconPlus size={16} />} onClick={() => begin()}>
            {t.schedule.newSession}
          </Button>
        )}
      </div>
      <div className="sched-note">
        <span style={{ display: "inline-flex", gap: 5, alignItems: "center" }}>
          <IconWorld size={14} aria-hidden />
          {mixed ? t.schedule.mixedZones : zoneNote(zone, locale, t)}
        </span>
        {sessions.data && <span>{t.schedule.count(sessions.data.length)}</span>}
      </div>
      {sessions.error && !sessions.data ? (
        <Failure error={sessions.error} retry={sessions.refetch} />
      ) : !sessions.data ? (
        <GridSkeleton />
      ) : narrow ? (
        <Agenda
          columns={columns}
          catalog={catalog}
          showPlace={!location}
          empty={t.schedule.empty}
        />
      ) : (
        <TimeGrid
          columns={columns}
          catalog={catalog}
          movable={movable}
          onMove={move}
          onCreate={can("session.create") ? begin : undefined}
          showPlace={!location}
          empty={t.schedule.empty}
          label={t.nav.schedule}
        />
      )}
      <span id="move-hint" hidden>
        {t.keys.moveHint}
      </span>
      <SessionDrawer
        draft={draft}
        catalog={catalog}
        onClose={() => setDraft(undefined)}
        onMade={(session) => {
          setDraft(undefined);
          notifications.show({
            message: t.schedule.made(session.title),
            onClick: () => void go(`/sessions/${session.id}`),
          });
        }}
      />
      <BulkDrawer
        opened={bulk}
        onClose={() => setBulk(false)}
        catalog={catalog}
        from={firstDay}
        days={days}
        locationId={locationId}
      />
    </div>
  );
}

function readDay(text: string | null): Temporal.PlainDate | undefined {
  try {
    return text ? Temporal.PlainDate.from(text) : undefined;
  } catch {
    return undefined;
  }
}

function titleOf(from: Temporal.PlainDate, days: number, locale: string): string {
  if (days === 1) return showDay(from, locale, "longDay");
  const noon = (day: Temporal.PlainDate) => Date.UTC(day.year, day.month - 1, day.day, 12);
  const format = new Intl.DateTimeFormat(locale, {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
  return format.formatRange(noon(from), noon(from.add({ days: days - 1 })));
}

/** Which clock is shown, and how it differs from the reader's. */
export function zoneNote(zone: string, locale: string, t: Messages): string {
  const name = zoneName(zone, locale);
  const place = zone.replaceAll("_", " ");
  return sameClock(zone, here())
    ? t.schedule.zone(place, name)
    : t.schedule.otherZone(place, name, zoneName(here(), locale));
}

interface Arrangement {
  view: View;
  group: Group;
  from: Temporal.PlainDate;
  catalog: Catalog;
  now: number;
  zone: string;
  locationId: string;
}

function useColumns(sessions: readonly Session[], how: Arrangement): Column[] {
  const t = useText();
  const { locale } = useSpeech();
  const { view, group, from, catalog, now, zone, locationId } = how;
  return useMemo(() => {
    const clock = (z: string) => Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(z);
    const ordered = [...sessions].sort((a, b) => spanOf(a).from - spanOf(b).from);
    if (view === "week") {
      const current = clock(zone);
      const todayText = current.toPlainDate().toString();
      return Array.from({ length: 7 }, (_, at) => {
        const day = from.add({ days: at });
        const key = day.toString();
        const kind = key === todayText ? "today" : key < todayText ? "past" : "";
        return {
          key,
          title: String(day.day),
          note: showDay(day, locale, "weekday"),
          kind,
          sessions: ordered.filter((session) => dayOf(session) === key),
          now: key === todayText ? minuteOfDay(current) : undefined,
        };
      });
    }
    const date = from.toString();
    const nowIn = (z: string) => {
      const current = clock(z);
      return current.toPlainDate().toString() === date ? minuteOfDay(current) : undefined;
    };
    const inside = catalog.locations.filter(({ id }) => !locationId || id === locationId);
    const column = (
      key: string,
      title: string,
      note: string,
      z: string,
      mine: Session[],
    ): Column => ({
      key,
      title,
      note,
      kind: "",
      sessions: mine,
      now: nowIn(z),
    });
    if (group === "location") {
      return inside
        .filter(({ id, active }) => active || ordered.some((s) => s.locationId === id))
        .map(({ id, name, timeZone }) =>
          column(
            id,
            name,
            zoneName(timeZone, locale),
            timeZone,
            ordered.filter((s) => s.locationId === id),
          ),
        );
    }
    if (group === "resource") {
      const columns = catalog.resources
        .filter(({ locationId: at }) => inside.some(({ id }) => id === at))
        .map(({ id, name, locationId: at }) => {
          const place = catalog.location(at);
          const mine = ordered.filter((s) => s.resourceId === id);
          return column(id, name, place?.name ?? "", place?.timeZone ?? zone, mine);
        });
      const none = ordered.filter((s) => !s.resourceId);
      return none.length > 0 || columns.length === 0
        ? [...columns, column("", t.schedule.noResource, "", zone, none)]
        : columns;
    }
    const leading = new Set(ordered.map(({ coachId }) => coachId));
    const columns = catalog.staff
      .filter(({ id }) => leading.has(id))
      .map(({ id, name }) =>
        column(
          id,
          name,
          t.roleNames.coach,
          zone,
          ordered.filter((s) => s.coachId === id),
        ),
      );
    const none = ordered.filter((s) => !catalog.coach(s.coachId));
    return none.length > 0 || columns.length === 0
      ? [...columns, column("", t.schedule.noCoach, "", zone, none)]
      : columns;
  }, [sessions, view, group, from, catalog, now, zone, locationId, locale, t]);
}

/** Moves a session where it was dropped, after asking where people are booked. */
function useMove(catalog: Catalog, view: View, group: Group) {
  const t = useText();
  const { locale } = useSpeech();
  const update = useDo(SessionService.method.updateSession);
  const { run } = update;
  const undoable = useRef<string>(undefined);
  return useCallback(
    async (session: Session, to: Drop) => {
      if (!session.startTime) return;
      const before = zoned(session.startTime, session.timeZone);
      const day = view === "week" ? Temporal.PlainDate.from(to.column) : before.toPlainDate();
      const startTime = atWallClock(day, to.minute, session.timeZone);
      const paths = ["start_time"];
      const put: { resourceId?: string; coachId?: string } = {};
      if (view === "day" && group === "resource" && to.column !== session.resourceId) {
        const resource = catalog.resource(to.column);
        if (resource && resource.locationId !== session.locationId) {
          notifications.show({ color: "red", message: t.schedule.otherLocation });
          return;
        }
        put.resourceId = to.column;
        paths.push("resource_id");
      }
      if (view === "day" && group === "coach" && to.column !== session.coachId) {
        put.coachId = to.column;
        paths.push("coach_id");
      }
      if (millis(startTime) === millis(session.startTime)) paths.shift();
      if (paths.length === 0) return;
      const when = `${showDay(day, locale, "day")}, ${showClock(to.minute)}`;
      if (session.seatsTaken > 0 && !(await confirmMove(session, when, t))) return;
      const answer = await run({
        sessionId: session.id,
        session: { startTime, ...put },
        updateMask: { paths },
        etag: session.etag,
      });
      const moved = answer?.session;
      if (!moved) return;
      // Only the last move can be undone: whatever came before it has been overwritten.
      if (undoable.current) notifications.hide(undoable.current);
      const id = `moved-${session.id}-${moved.etag}`;
      undoable.current = id;
      notifications.show({
        id,
        message: (
          <span style={{ display: "flex", gap: 12, alignItems: "center" }}>
            <span style={{ flex: 1 }}>{t.schedule.moved(session.title, when)}</span>
            <Button
              size="compact-sm"
              variant="light"
              onClick={() => {
                notifications.hide(id);
                const { startTime: back, resourceId, coachId } = session;
                void run({
                  sessionId: session.id,
                  session: { ...(back && { startTime: back }), resourceId, coachId },
                  updateMask: { paths },
                  etag: moved.etag,
                });
              }}
            >
              {t.actions.undo}
            </Button>
          </span>
        ),
        autoClose: 9000,
      });
    },
    [catalog, view, group, run, t, locale],
  );
}

/** The same on a telephone: a list. */
function Agenda({
  columns,
  catalog,
  showPlace,
  empty,
}: {
  columns: readonly Column[];
  catalog: Catalog;
  showPlace: boolean;
  empty: string;
}) {
  const { t, locale } = useSpeech();
  const go = useNavigate();
  const today = useRef<HTMLElement>(null);
  const first = columns.map(({ key }) => key).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other days are shown
  useEffect(() => today.current?.scrollIntoView(), [first]);
  if (columns.every(({ sessions }) => sessions.length === 0)) return <State title={empty} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section className="grid-wrap agenda" tabIndex={0} aria-label={t.nav.schedule}>
      {columns.map(({ key, title, sessions, kind }) =>
        sessions.length === 0 ? null : (
          <section key={key} ref={kind === "today" ? today : undefined}>
            <h2>
              {/^\d{4}-/.test(key)
                ? showDay(Temporal.PlainDate.from(key), locale, "longDay")
                : title}
            </h2>
            <ul>
              {sessions.map((session) => (
                <li key={session.id}>
                  <a
                    href={`/sessions/${session.id}`}
                    className={slotClass(session)}
                    style={
                      { "--c": catalog.service(session.serviceId)?.color } as React.CSSProperties
                    }
                    onClick={(event) => {
                      event.preventDefault();
                      void go(`/sessions/${session.id}`);
                    }}
                  >
                    <SlotText session={session} catalog={catalog} showPlace={showPlace} />
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ),
      )}
    </section>
  );
}
