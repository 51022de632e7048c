import { type Session, SessionStatus } from "@berthhq/client";
import { VisuallyHidden } from "@mantine/core";
import { IconLock, IconRepeat } from "@tabler/icons-react";
import {
  type ComponentProps,
  type CSSProperties,
  type MouseEvent,
  type PointerEvent,
  useRef,
  useState,
} from "react";
import { useLocation, useNavigate } from "react-router";
import { millis, minuteOfDay, showClock, zoned } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { fallbackColor } from "../catalog/data";
import { useCatalog } from "../catalog/loaded";
import { routes } from "../routes";
import { dotted, type From } from "../ui";
import classes from "./slot.module.css";
import { scheduleTexts } from "./texts";

interface Props extends Omit<ComponentProps<"a">, "href" | "onClick"> {
  session: Session;
  /** Shows the session's location. */
  showPlace: boolean;
  view: "grid" | "board" | "agenda";
  /** In the grid: slots below this height, in pixels, show less. */
  height?: number;
  movable?: boolean;
  /** How far it is dragged. */
  offset?: Point | undefined;
  /** Whether the next click is the end of a drag. */
  dragged?: { readonly current: boolean };
}

/** A session in the schedule: a link, in the color of its service. */
export function SessionSlot({
  session,
  showPlace,
  view,
  height = Number.POSITIVE_INFINITY,
  movable = false,
  offset,
  dragged,
  style,
  ...props
}: Props) {
  const t = useText(scheduleTexts);
  const catalog = useCatalog();
  const go = useNavigate();
  const { pathname, search } = useLocation();
  const path = routes.session.path({ id: session.id });
  const open = (event: MouseEvent) => {
    const modified = event.ctrlKey || event.metaKey || event.shiftKey;
    if (modified && !dragged?.current) return; // left to the browser
    event.preventDefault();
    // The back link of the session returns to the same days and view.
    if (!dragged?.current) void go(path, { state: { from: pathname + search } satisfies From });
  };
  const clock = session.startTime
    ? showClock(minuteOfDay(zoned(session.startTime, session.timeZone)))
    : "";
  const coach = catalog.coach(session.coachId)?.name;
  const where =
    catalog.resource(session.resourceId)?.name ??
    (showPlace ? catalog.location(session.locationId)?.name : undefined);
  const full = session.capacity !== undefined && session.seatsOpen === 0;
  const cancelled = session.status === SessionStatus.CANCELLED;
  const states = {
    draft: session.status === SessionStatus.DRAFT,
    cancelled,
    blocked: session.blocked,
    over: millis(session.endTime) < Date.now(),
    movable,
    moving: offset !== undefined,
    short: height < 50,
    tiny: height < 32,
  };
  return (
    <a
      href={path}
      draggable={false}
      className={classes.slot}
      data-view={view}
      data-state={Object.entries(states)
        .flatMap(([name, on]) => (on ? name : []))
        .join(" ")}
      style={
        {
          "--c": catalog.service(session.serviceId)?.color || fallbackColor,
          ...style,
          ...(offset && { transform: `translate(${offset.x}px, ${offset.y}px)` }),
        } as CSSProperties
      }
      onClick={open}
      aria-describedby={movable ? "move-hint" : undefined}
      {...props}
    >
      <b className={classes.text}>{session.title}</b>
      <span className={classes.line}>
        <span className={classes.text}>
          {clock}
          {session.status === SessionStatus.DRAFT && ` · ${t.sessionState.draft}`}
        </span>
        <span className={classes.marks}>
          {session.seriesId && <IconRepeat className={classes.aside} size={12} aria-hidden />}
          {session.blocked && <IconLock size={12} aria-label={t.sessionState.blocked} />}
          <span className={classes.seats} data-full={full || undefined}>
            {session.seatsTaken}
            {session.capacity !== undefined && `/${session.capacity}`}
          </span>
          {session.waitlistLength > 0 && (
            <span className={classes.aside} title={t.common.waiting(session.waitlistLength)}>
              +{session.waitlistLength}
              <VisuallyHidden>{t.common.waiting(session.waitlistLength)}</VisuallyHidden>
            </span>
          )}
        </span>
      </span>
      <span className={`${classes.line} ${classes.who}`}>
        <span className={classes.text}>{dotted(coach, where)}</span>
      </span>
      {cancelled && view === "grid" && <VisuallyHidden>{t.sessionState.cancelled}</VisuallyHidden>}
    </a>
  );
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Movements below this many pixels count as a click. */
const slack = 5;

/** The element under the pointer that has this data attribute. */
export const under = (
  { clientX, clientY }: globalThis.MouseEvent,
  datum: string,
): HTMLElement | undefined =>
  document
    .elementsFromPoint(clientX, clientY)
    .find((element) => element instanceof HTMLElement && datum in element.dataset) as
    | HTMLElement
    | undefined;

interface useDragProps {
  movable: boolean;
  /** Where the element is shown while it is dragged. */
  shown?: (moved: Point, event: globalThis.PointerEvent) => Point;
  drop: (event: globalThis.PointerEvent, moved: Point) => void;
}

/** Drags an element with the mouse. Escape cancels; touch scrolls instead. */
export function useDrag({ movable, shown = (moved) => moved, drop }: useDragProps) {
  const [offset, setOffset] = useState<Point>();
  const dragged = useRef(false);
  const onPointerDown = (down: PointerEvent<HTMLElement>) => {
    dragged.current = false;
    if (!movable || down.button !== 0 || down.pointerType === "touch") return;
    const thing = down.currentTarget;
    const movedBy = ({ clientX, clientY }: globalThis.PointerEvent): Point => ({
      x: clientX - down.clientX,
      y: clientY - down.clientY,
    });
    const move = (event: globalThis.PointerEvent) => {
      const moved = movedBy(event);
      if (!dragged.current && Math.hypot(moved.x, moved.y) < slack) return;
      if (!dragged.current) thing.setPointerCapture(event.pointerId);
      dragged.current = true;
      setOffset(shown(moved, event));
    };
    const dragging = new AbortController();
    const end = (event: globalThis.PointerEvent) => {
      dragging.abort();
      setOffset(undefined);
      if (dragged.current && event.type === "pointerup") drop(event, movedBy(event));
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key === "Escape") end(new PointerEvent("pointercancel"));
    };
    addEventListener("pointermove", move, dragging);
    addEventListener("pointerup", end, dragging);
    addEventListener("pointercancel", end, dragging);
    addEventListener("keydown", cancel, dragging);
  };
  return {
    offset,
    /** Whether the next click is the end of a drag. */
    dragged,
    onPointerDown,
  };
}
