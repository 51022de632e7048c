import {
  all,
  type BerthClient,
  berthError,
  createBerthClient,
  ErrorReason,
  type Session,
} from "@berthhq/client";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

export function connect(baseUrl: string): BerthClient {
  return createBerthClient({
    baseUrl,
    // Your backend knows the signed-in user and returns a token of your identity provider.
    refresh: async () => {
      const response = await fetch("/api/berth-token", { method: "POST" });
      if (!response.ok) throw new Error(`no token: ${response.status}`);
      return response.text();
    },
  });
}

export async function week(berth: BerthClient, monday: Date): Promise<Session[]> {
  const nextMonday = new Date(monday);
  nextMonday.setDate(monday.getDate() + 7); // a week is not always 168 hours long
  const startsWithin = { start: timestampFromDate(monday), end: timestampFromDate(nextMonday) };
  const sessions: Session[] = [];
  const list = all(berth.sessions.listSessions, { filter: { startsWithin } }, (p) => p.sessions);
  for await (const session of list) sessions.push(session);
  return sessions;
}

export async function book(berth: BerthClient, session: Session): Promise<string> {
  try {
    const { outcome } = await berth.bookings.book({ sessionId: session.id });
    return outcome.case === "entry"
      ? `You are number ${outcome.value.position} on the waitlist.`
      : "See you there!";
  } catch (thrown) {
    const { reason, metadata } = berthError(thrown);
    switch (reason) {
      case ErrorReason.ALREADY_BOOKED:
        return "You are already booked.";
      case ErrorReason.ADVANCE_WINDOW:
        return `Booking opens ${new Date(metadata["opens_at"] ?? "").toLocaleString()}.`;
      case ErrorReason.SESSION_FULL:
      case ErrorReason.WAITLIST_FULL:
        return "This session is full.";
      default:
        throw thrown; // to your error boundary, which shows berthError(thrown).message
    }
  }
}

export async function follow(
  berth: BerthClient,
  reload: () => void,
  online: (yes: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let stale = true; // the page may be older than the watch
  const events = berth.watch(
    {},
    {
      signal,
      onDisconnect: () => online(false),
      // Called when the watch starts and after each batch: no event is missed from then on.
      onCursor: () => {
        online(true);
        if (stale) reload();
        stale = false;
      },
    },
  );
  for await (const event of events) stale ||= event.sessionId !== "";
}
