import type { Session } from "@berthhq/client";
import { Box } from "@mantine/core";
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useRef } from "react";
import { showClock } from "../../shared/format/time";
import type { Column } from "./columns";
import classes from "./grid.module.css";
import { type Drop, hourFor, hoursOf, place, snap, spanOf } from "./layout";
import { ScrollRegion } from "./scroll-region";
import { SessionSlot, under, useDrag } from "./slot";

interface Props {
  columns: readonly Column[];
  movable: (session: Session) => boolean;
  onMove: (session: Session, to: Drop) => void;
  onCreate: ((at: Drop) => void) | undefined;
  /** Shows each session's location, if the columns do not. */
  showPlace: boolean;
  /** Shown if there are no sessions. */
  empty: ReactNode;
}

/** A day or a week on a time axis. */
export function TimeGrid(props: Props) {
  const { columns, movable, onCreate, empty, ...shared } = props;
  const all = columns.flatMap(({ sessions }) => sessions);
  const hour = hourFor(all);
  const hours = hoursOf(all.map((session) => spanOf(session, hour)));
  /** The height of a number of minutes. */
  const heightOf = (minutes: number) => (minutes / 60) * hour;
  /** The distance of a minute of the day from the top. */
  const topOf = (minute: number) => heightOf(minute - hours.from * 60);
  const scroller = useRef<HTMLElement>(null);
  const first = columns.map(({ key }) => key).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other days are shown
  useEffect(() => {
    const begins = all.map((session) => spanOf(session).from);
    const at = begins.length > 0 ? Math.min(...begins) - 15 : 8 * 60;
    scroller.current?.scrollTo({ top: topOf(at) });
  }, [first]);
  const create = ({ target, currentTarget, clientY }: MouseEvent, column: string) => {
    if (target !== currentTarget) return;
    const y = clientY - currentTarget.getBoundingClientRect().top;
    const minute = hours.from * 60 + (y / hour) * 60;
    onCreate?.({ column, minute: Math.floor(minute / 30) * 30 });
  };
  const clocks = Array.from(
    { length: hours.to - hours.from - 1 },
    (_, at) => (hours.from + at + 1) * 60,
  );
  return (
    <ScrollRegion ref={scroller}>
      <Box
        className={classes.grid}
        __vars={{
          "--columns": String(columns.length),
          "--hour": `${hour}px`,
          "--height": `${(hours.to - hours.from) * hour}px`,
        }}
      >
        <div className={classes.head} />
        {columns.map(({ key, title, note, kind }) => (
          <div key={key} className={classes.head} data-kind={kind}>
            <span>{note}</span>
            <strong>{title}</strong>
          </div>
        ))}
        <div className={classes.hours} aria-hidden>
          {clocks.map((minute) => (
            <Box component="span" key={minute} top={topOf(minute)}>
              {showClock(minute)}
            </Box>
          ))}
        </div>
        {columns.map(({ key, kind, sessions, now }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the button "new session" does the same
          // biome-ignore lint/a11y/useKeyWithClickEvents: as above
          <div
            key={key}
            className={classes.column}
            data-kind={kind}
            data-column={key}
            data-create={onCreate ? "" : undefined}
            onClick={(event) => create(event, key)}
          >
            {place(sessions.map((session) => ({ session, ...spanOf(session, hour) }))).map(
              ({ session, from, to, lane, lanes }) => (
                <Slot
                  {...shared}
                  key={session.id}
                  session={session}
                  column={key}
                  movable={movable(session)}
                  hour={hour}
                  place={{
                    top: topOf(from) + 1,
                    height: heightOf(to - from) - 2,
                    left: `calc(${(lane / lanes) * 100}% + 2px)`,
                    width: `calc(${100 / lanes}% - 5px)`,
                  }}
                />
              ),
            )}
            {now !== undefined && now >= hours.from * 60 && (
              <Box className={classes.now} top={topOf(now)} />
            )}
          </div>
        ))}
      </Box>
      {all.length === 0 && <div className={classes.empty}>{empty}</div>}
    </ScrollRegion>
  );
}

interface SlotProps extends Pick<Props, "onMove" | "showPlace"> {
  session: Session;
  column: string;
  movable: boolean;
  /** Pixels per hour. */
  hour: number;
  place: { top: number; height: number; left: string; width: string };
}

/** A session that can be dragged to another time or column, or moved with the arrow keys. */
function Slot({ session, column, movable, onMove, hour, place, ...shown }: SlotProps) {
  const { from } = spanOf(session);
  const target = (event: globalThis.PointerEvent, y: number): Drop => {
    const minute = snap(from + (y / hour) * 60);
    return {
      column: under(event, "column")?.dataset.column ?? column,
      minute: Math.max(0, Math.min(minute, 24 * 60 - 15)),
    };
  };
  const drag = useDrag({
    movable,
    shown: ({ x, y }, event) => ({ x, y: ((target(event, y).minute - from) / 60) * hour }),
    drop: (event, { y }) => {
      const to = target(event, y);
      if (to.column !== column || to.minute !== from) onMove(session, to);
    },
  });
  const nudge = (event: KeyboardEvent<HTMLElement>) => {
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
    <SessionSlot
      {...shown}
      {...drag}
      session={session}
      view="grid"
      height={place.height}
      movable={movable}
      style={place}
      onKeyDown={nudge}
    />
  );
}
