import { type SessionFilterSchema, SessionService } from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ListOptions, useAll } from "../api/lists";

/** The sessions that a filter matches. */
export const useSessions = (
  filter: MessageInitShape<typeof SessionFilterSchema>,
  options: ListOptions,
) => useAll(SessionService.method.listSessions, { filter }, (answer) => answer.sessions, options);
