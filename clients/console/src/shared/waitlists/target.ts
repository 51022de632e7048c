import type { SessionSummary, WaitlistEntry } from "@berthhq/client";

/** The sessions that a waitlist entry names, in its order: none, if it is for a time window. */
export function sessionsOf({ target }: WaitlistEntry): readonly SessionSummary[] {
  switch (target.case) {
    case "session":
      return [target.value];
    case "anyOf":
      return target.value.sessions;
    default:
      return [];
  }
}
