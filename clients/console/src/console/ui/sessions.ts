import type { Session } from "@berthhq/client";

/** The local date of a session, such as 2026-03-18. */
export function dayOf({ localDate }: Session): string {
  const { year = 0, month = 0, day = 0 } = localDate ?? {};
  const pad = (n: number, to: number) => String(n).padStart(to, "0");
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}
