import { useState } from "react";

/**
 * Keeps the last defined value, so that a closing dialog still shows it. turn counts the openings:
 * as a React key it resets the content even if the dialog reopens while it closes.
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
