import { type Session, SessionState } from "@berthhq/client";
import { IconLock, IconRepeat } from "@tabler/icons-react";
import { type CSSProperties, memo, type ReactNode, useEffect, useRef } from "react";
import { useI18n } from "../../i18n";
import { MINUTE, millis, minuteOfDay, showClock, zoned } from "../../shared/time";
import { State } from "../../shared/ui";
import { type Catalog, fallbackColor } from "../data";
import { under, useDrag } from "./drag";
import { hoursOf, place, type Span, snap } from "./layout";
import { useOpenSession } from "./open";

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly note: string;
  readonly kind: "today" | "past" | "";
  readonly sessions: readonly Session[];
  /** The current minute of the day, if the column shows today. */
  readonly now: number | undefined;
}

/** Where a session was dropped. */
export interface Drop {
  readonly column: string;
  /** Minute of the day. */
  readonly minute: number;
}

interface Props {
  columns: readonly Column[];
  catalog: Catalog;
  movable: (session: Session) => boolean;
  onMove: (session: Session, to: Drop) => void;
  onCreate: ((at: Drop) => void) | undefined;
  /** Shows each session's location, if the columns do not. */
  showPlace: boolean;
  empty: string;
  /** Shown if there are no sessions. */
  begin?: ReactNode;
  label: string;
}

/** Height of an hour, in pixels, unless sessions are short. */
const usualHour = 56;
const highestHour = 240;

/** Sessions below this height, in pixels, are too small to read and to hit. */
const leastHeight = 24;

const lengthOf = ({ startTime, endTime }: Session) =>
  (millis(endTime) - millis(startTime)) / MINUTE;

/** Pixels per hour. Short sessions, such as tee times, need more than classes. */
export function hourFor(sessions: readonly Session[]): number {
  const shortest = Math.min(60, ...sessions.map(lengthOf).filter((length) => length > 0));
  return Math.min(highestHour, Math.max(usualHour, Math.ceil((60 / shortest) * leastHeight)));
}

export function spanOf(session: Session, hour = usualHour): Span {
  if (!session.startTime || !session.endTime) return { from: 0, to: 0 };
  const from = minuteOfDay(zoned(session.startTime, session.timeZone));
  const length = Math.max(lengthOf(session), (leastHeight / hour) * 60);
  return { from, to: Math.min(24 * 60, from + length) };
}

/** A day or a week on a time axis. */
export function TimeGrid(props: Props) {
  const { columns, onCreate } = props;
  const all = columns.flatMap(({ sessions }) => sessions);
  const hour = hourFor(all);
  const hours = hoursOf(all.map((session) => spanOf(session, hour)));
  const scroller = useRef<HTMLDivElement>(null);
  const height = (hours.to - hours.from) * hour;
  const empty = all.length === 0;
  const first = columns.map(({ key }) => key).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other days are shown
  useEffect(() => {
    const begins = all.map((session) => spanOf(session).from);
    const at = begins.length > 0 ? Math.min(...begins) - 15 : 8 * 60;
    scroller.current?.scrollTo({ top: ((at - hours.from * 60) / 60) * hour });
  }, [first]);
  const minuteAt = (event: { clientY: number }, column: Element) => {
    const y = event.clientY - column.getBoundingClientRect().top;
    return hours.from * 60 + (y / hour) * 60;
  };
  const style = { "--columns": columns.length, "--hour": `${hour}px` } as CSSProperties;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content
    <section className="grid-wrap" ref={scroller} tabIndex={0} aria-label={props.label}>
      <div className="grid" style={style}>
        <div className="grid-head" />
        {columns.map(({ key, title, note, kind }) => (
          <div key={key} className={`grid-head ${kind}`}>
            <span>{note}</span>
            <strong className="ellipsis">{title}</strong>
          </div>
        ))}
        <div className="grid-hours" style={{ height }} aria-hidden>
          {Array.from({ length: hours.to - hours.from - 1 }, (_, at) => hours.from + at + 1).map(
            (clock) => (
              <span key={clock} style={{ top: (clock - hours.from) * hour }}>
                {showClock(clock * 60)}
              </span>
            ),
          )}
        </div>
        {columns.map((column) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the button "new session" does the same
          // biome-ignore lint/a11y/useKeyWithClickEvents: as above
          <div
            key={column.key}
            className={`grid-col ${column.kind}`}
            style={{ height }}
            data-column={column.key}
            data-create={onCreate ? "" : undefined}
            onClick={(event) => {
              if (event.target !== event.currentTarget) return;
              const minute = Math.floor(minuteAt(event, event.currentTarget) / 30) * 30;
              onCreate?.({ column: column.key, minute });
            }}
          >
            <Slots {...props} column={column} from={hours.from} hour={hour} />
            {column.now !== undefined && column.now >= hours.from * 60 && (
              <div className="now" style={{ top: ((column.now - hours.from * 60) / 60) * hour }} />
            )}
          </div>
        ))}
      </div>
      {empty && (
        <div className="grid-empty">
          <State title={props.empty} action={props.begin} />
        </div>
      )}
    </section>
  );
}

const Slots = memo(function Slots({
  column,
  from,
  hour,
  ...props
}: Props & { column: Column; from: number; hour: number }) {
  const spans = column.sessions.map((session) => spanOf(session, hour));
  const placed = place(spans);
  return column.sessions.map((session, index) => {
    const span = spans[index] ?? { from: 0, to: 0 };
    const { lane, lanes } = placed[index] ?? { lane: 0, lanes: 1 };
    return (
      <Slot
        key={session.id}
        session={session}
        column={column.key}
        catalog={props.catalog}
        showPlace={props.showPlace}
        movable={props.movable(session)}
        onMove={props.onMove}
        hour={hour}
        style={{
          top: ((span.from - from * 60) / 60) * hour + 1,
          height: ((span.to - span.from) / 60) * hour - 2,
          left: `calc(${(lane / lanes) * 100}% + 2px)`,
          width: `calc(${100 / lanes}% - 5px)`,
        }}
      />
    );
  });
});

interface SlotProps {
  session: Session;
  column: string;
  catalog: Catalog;
  movable: boolean;
  showPlace: boolean;
  onMove: (session: Session, to: Drop) => void;
  /** Pixels per hour. */
  hour: number;
  style: CSSProperties & { height: number };
}

export function slotClass(session: Session, now = Date.now()): string {
  const classes = ["slot"];
  if (session.state === SessionState.DRAFT) classes.push("draft");
  if (session.state === SessionState.CANCELLED) classes.push("cancelled");
  if (session.blocked) classes.push("blocked");
  if (millis(session.endTime) < now) classes.push("over");
  return classes.join(" ");
}

function Slot(props: SlotProps) {
  const { session, column, catalog, movable, showPlace, onMove, hour, style } = props;
  const { t } = useI18n();
  const { pathOf, open } = useOpenSession();
  const { from } = spanOf(session);
  const target = (event: globalThis.PointerEvent, y: number): Drop => {
    const minute = snap(from + (y / hour) * 60);
    return {
      column: under(event, "column")?.dataset.column ?? column,
      minute: Math.max(0, Math.min(minute, 24 * 60 - 15)),
    };
  };
  const { offset, dragged, onPointerDown } = useDrag({
    movable,
    shown: ({ x, y }, event) => ({ x, y: ((target(event, y).minute - from) / 60) * hour }),
    drop: (event, { y }) => {
      const to = target(event, y);
      if (to.column !== column || to.minute !== from) onMove(session, to);
    },
  });

  const nudge = (event: React.KeyboardEvent<HTMLElement>) => {
    if (!movable || !event.altKey || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const columns = [...document.querySelectorAll<HTMLElement>("[data-column]")];
    const at = columns.findIndex((element) => element.dataset.column === column);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const to = columns[at + step]?.dataset.column ?? column;
    const minute = from + ({ ArrowUp: -15, ArrowDown: 15 }[event.key] ?? 0);
    if (to !== column || minute !== from) onMove(session, { column: to, minute });
  };

  return (
    <a
      href={pathOf(session.id)}
      draggable={false}
      className={[
        slotClass(session),
        movable && "movable",
        offset && "moving",
        style.height < 50 && "short",
        style.height < 32 && "tiny",
      ]
        .filter(Boolean)
        .join(" ")}
      style={{
        ...style,
        ...({ "--c": catalog.service(session.serviceId)?.color || fallbackColor } as CSSProperties),
        ...(offset && { transform: `translate(${offset.x}px, ${offset.y}px)` }),
      }}
      onPointerDown={onPointerDown}
      onKeyDown={nudge}
      onClick={(event) => (dragged.current ? event.preventDefault() : open(event, session.id))}
      aria-describedby={movable ? "move-hint" : undefined}
    >
      <SlotText session={session} catalog={catalog} showPlace={showPlace} />
      {session.state === SessionState.CANCELLED && (
        <span className="sr">{t.sessionState.cancelled}</span>
      )}
    </a>
  );
}

export function SlotText({
  session,
  catalog,
  showPlace,
}: {
  session: Session;
  catalog: Catalog;
  showPlace: boolean;
}) {
  const { t } = useI18n();
  if (!session.startTime) return null;
  const clock = showClock(minuteOfDay(zoned(session.startTime, session.timeZone)));
  const coach = catalog.coach(session.coachId)?.name;
  const where =
    catalog.resource(session.resourceId)?.name ??
    (showPlace ? catalog.location(session.locationId)?.name : undefined);
  const full = session.capacity !== undefined && session.seatsOpen === 0;
  return (
    <>
      <b className="ellipsis">{session.title}</b>
      <span className="line">
        <span className="ellipsis">
          {clock}
          {session.state === SessionState.DRAFT && ` · ${t.sessionState.draft}`}
        </span>
        <span style={{ display: "inline-flex", gap: 4, alignItems: "center" }}>
          {session.seriesId && <IconRepeat className="aside" size={12} aria-hidden />}
          {session.blocked && <IconLock size={12} aria-label={t.sessionState.blocked} />}
          <span className={`seats-of ${full ? "full" : ""}`}>
            {session.seatsTaken}
            {session.capacity !== undefined && `/${session.capacity}`}
          </span>
          {session.waitlistLength > 0 && (
            <span className="aside" title={t.schedule.waiting(session.waitlistLength)}>
              +{session.waitlistLength}
              <span className="sr">{t.schedule.waiting(session.waitlistLength)}</span>
            </span>
          )}
        </span>
      </span>
      <span className="line who">
        <span className="ellipsis">{[coach, where].filter(Boolean).join(" · ")}</span>
      </span>
    </>
  );
}
