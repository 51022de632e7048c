import { useState } from "react";

/**
 * The last that there was, and the how-manieth: what closes goes on showing it until it has gone, and what opens begins
 * anew, however soon.
 */
export function useLast<T>(value: T | undefined): readonly [last: T | undefined, turn: number] {
  const [kept, keep] = useState({ last: value, open: value !== undefined, turn: 0 });
  const open = value !== undefined;
  if (open !== kept.open || (open && value !== kept.last)) {
    const next = {
      last: value ?? kept.last,
      open,
      turn: open && !kept.open ? kept.turn + 1 : kept.turn,
    };
    keep(next);
    return [next.last, next.turn];
  }
  return [kept.last, kept.turn];
}
