import "./schedule.css";
import { type Session, SessionState } from "@berthhq/client";
import { ActionIcon, Button, SegmentedControl, Select, Skeleton, Tooltip } from "@mantine/core";
import { useHotkeys, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import {
  IconChecklist,
  IconChevronLeft,
  IconChevronRight,
  IconPlus,
  IconWorld,
} from "@tabler/icons-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { useI18n, useText } from "../../i18n";
import { useAddress } from "../../shared/address";
import { named } from "../../shared/form";
import { useCan, useMe } from "../../shared/me";
import { showClock, showDay, Temporal, today, weekStart } from "../../shared/time";
import { useTitle } from "../../shared/title";
import { Failure } from "../../shared/ui";
import { type Catalog, useCatalog, useSchedule } from "../data";
import { Agenda } from "./agenda";
import { Board, useBoardRows } from "./board";
import { BulkDrawer } from "./bulk";
import { type Group, useColumns, type View } from "./columns";
import { type Drop, TimeGrid } from "./grid";
import { useMove } from "./move";
import { type Draft, SessionDrawer } from "./new-session";
import { zoneNote } from "./zone";

/** The current time, updated every minute, for the line that marks now. */
function useMinute(): number {
  const [minute, setMinute] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setMinute(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return minute;
}

export function SchedulePage() {
  const t = useText();
  useTitle(t.nav.schedule);
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
  const { locale } = useI18n();
  const can = useCan();
  const { tenant } = useMe();
  const go = useNavigate();
  const now = useMinute();
  const [params, change] = useAddress();
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const places = catalog.locations.filter(({ active }) => active);
  const [kept, keep] = useLocalStorage({ key: "berth.location", defaultValue: "" });
  const mixedZones = new Set(places.map(({ timeZone }) => timeZone)).size > 1;
  // By default show one location, because a single time zone is easier to read.
  const first = mixedZones || places.length === 1 ? (places[0]?.id ?? "") : "";
  const chosen = params.get("location") ?? kept;
  const locationId = catalog.location(chosen) ? chosen : chosen === "all" ? "" : first;
  const location = catalog.location(locationId);
  const zone = location?.timeZone ?? tenant.timeZone;
  const view = (params.get("view") as View | null) ?? "week";
  const by = params.get("by") as Group | null;
  const group = by ?? "location";
  const day = readDay(params.get("date")) ?? today(zone, now);
  const [from, days] = view === "week" ? [weekStart(day), 7] : [day, 1];
  const fromText = from.toString();
  const firstDay = useMemo(() => Temporal.PlainDate.from(fromText), [fromText]);
  const sessions = useSchedule(firstDay, days, locationId);
  const [draft, setDraft] = useState<Draft>();
  const [bulk, setBulk] = useState(false);

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
  const beginOn = (date: string, owner: string) =>
    setDraft({
      date,
      start: showClock(18 * 60),
      locationId: (group === "location" && owner) || locationId || (places[0]?.id ?? ""),
      ...(group === "resource" && owner && { resourceId: owner }),
      ...(group === "coach" && owner && { coachId: owner }),
    });
  useHotkeys([
    ["ArrowLeft", () => turn(-1)],
    ["ArrowRight", () => turn(1)],
    ["t", () => change({ date: undefined })],
    ["n", () => can("session.create") && begin()],
  ]);
  const wantsNew = params.get("new");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, if the URL asks for a session
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
  const rows = useBoardRows(sessions.data ?? [], { group, from: firstDay, catalog, locationId });
  const move = useMove(catalog, group);
  const drop = useCallback(
    (session: Session, { column, minute }: Drop) =>
      void move(session, view === "week" ? { day: column, minute } : { owner: column, minute }),
    [move, view],
  );
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
        {(view === "day" || !narrow) && (
          <Select
            size="sm"
            w={132}
            aria-label={t.schedule.by}
            allowDeselect={false}
            value={view === "day" ? group : (by ?? "time")}
            onChange={(value) => change({ by: value && value !== "time" ? value : undefined })}
            data={[
              ...(view === "week" ? [{ value: "time", label: t.board.byTime }] : []),
              { value: "location", label: t.schedule.byLocation },
              { value: "resource", label: t.schedule.byResource },
              { value: "coach", label: t.schedule.byCoach },
            ]}
          />
        )}
        {places.length > 1 && (
          <Select
            size="sm"
            w={150}
            aria-label={t.fields.location}
            allowDeselect={false}
            value={locationId || "all"}
            onChange={(value) => {
              keep(value ?? "");
              change({ location: undefined });
            }}
            data={[{ value: "all", label: t.schedule.allLocations }, ...named(places)]}
          />
        )}
        {can("session.bulk") && drafts > 0 && (
          <Button
            variant="default"
            size="sm"
            leftSection={<IconChecklist size={16} />}
            onClick={() => setBulk(true)}
          >
            {t.schedule.publishDrafts(drafts)}
          </Button>
        )}
        {can("session.bulk") && drafts === 0 && (
          <Tooltip label={t.schedule.bulk}>
            <ActionIcon
              variant="default"
              size={36}
              aria-label={t.schedule.bulk}
              onClick={() => setBulk(true)}
            >
              <IconChecklist size={17} />
            </ActionIcon>
          </Tooltip>
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
      ) : view === "week" && by ? (
        <Board
          rows={rows}
          from={firstDay}
          today={today(zone, now).toString()}
          catalog={catalog}
          movable={movable}
          onMove={move}
          onCreate={can("session.create") ? beginOn : undefined}
          empty={t.schedule.empty}
        />
      ) : (
        <TimeGrid
          columns={columns}
          catalog={catalog}
          movable={movable}
          onMove={drop}
          onCreate={can("session.create") ? begin : undefined}
          showPlace={!location}
          empty={t.schedule.empty}
          begin={
            can("session.create") && (
              <Button size="sm" variant="default" onClick={() => begin()}>
                {t.schedule.first}
              </Button>
            )
          }
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
