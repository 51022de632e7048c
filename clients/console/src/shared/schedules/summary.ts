import { type SessionSummary, SessionSummarySchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";

/** The session that something is about: answers always have it. */
export const sessionOf = (of: { session?: SessionSummary | undefined } | undefined) =>
  of?.session ?? create(SessionSummarySchema);
