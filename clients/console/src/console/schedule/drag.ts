import { type PointerEvent, useRef, useState } from "react";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Movements below this many pixels count as a click. */
const slack = 5;

/** The element under the pointer that has this data attribute. */
export const under = ({ clientX, clientY }: MouseEvent, datum: string): HTMLElement | undefined =>
  document
    .elementsFromPoint(clientX, clientY)
    .find((element) => element instanceof HTMLElement && datum in element.dataset) as
    | HTMLElement
    | undefined;

/** Drags an element with the mouse. Escape cancels; touch scrolls instead. */
export function useDrag({
  movable,
  shown = (moved) => moved,
  drop,
}: {
  movable: boolean;
  /** Where the element is shown while it is dragged. */
  shown?: (moved: Point, event: globalThis.PointerEvent) => Point;
  drop: (event: globalThis.PointerEvent, moved: Point) => void;
}) {
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
    const end = (event: globalThis.PointerEvent) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", cancelBooking);
      setOffset(undefined);
      if (dragged.current && event.type === "pointerup") drop(event, movedBy(event));
    };
    const cancelBooking = (event: KeyboardEvent) => {
      if (event.key === "Escape") end(new PointerEvent("pointercancel"));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    addEventListener("keydown", cancelBooking);
  };
  return {
    offset,
    /** Whether the next click is the end of a drag. */
    dragged,
    onPointerDown,
  };
}
