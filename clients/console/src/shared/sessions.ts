import { type Session, type SessionFilterSchema, SessionService } from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ListOptions, useAll } from "./lists";

/** The sessions that a filter matches. */
export const useSessions = (
  filter: MessageInitShape<typeof SessionFilterSchema>,
  options: ListOptions,
) => useAll(SessionService.method.listSessions, { filter }, (answer) => answer.sessions, options);

/** The local date of a session, such as 2026-03-18. */
export function dayOf({ localDate }: Session): string {
  const { year = 0, month = 0, day = 0 } = localDate ?? {};
  const pad = (n: number, to: number) => String(n).padStart(to, "0");
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}
