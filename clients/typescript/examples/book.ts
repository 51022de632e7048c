import {
  all,
  berthError,
  createBerthClient,
  EligibilityStatus,
  ErrorReason,
  type Session,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

const [baseUrl = "", token = ""] = process.argv.slice(2);
const berth = createBerthClient({ baseUrl, token });

const now = Date.now();
const startsWithin = { start: timestampFromMs(now), end: timestampFromMs(now + 7 * 86_400_000) };
const week = all(
  berth.sessions.listSessions,
  { filter: { startsWithin } },
  (page) => page.sessions,
);

async function firstBookable(): Promise<Session> {
  for await (const session of week) {
    if (session.eligibility?.status === EligibilityStatus.ELIGIBLE) return session;
  }
  throw new Error("no session to book this week");
}

const session = await firstBookable();
try {
  const { outcome } = await berth.bookings.book({ sessionId: session.id });
  // If the session has filled up in the meantime, the outcome is a waitlist entry.
  if (outcome.case === "booking") console.log(`${session.title}: booking ${outcome.value.id}`);
  if (outcome.case === "entry") console.log(`${session.title}: number ${outcome.value.position}`);
} catch (thrown) {
  const { reason, metadata } = berthError(thrown);
  if (reason !== ErrorReason.DAILY_LIMIT) throw thrown;
  console.log(`The plan allows ${metadata["limit"]} bookings per day.`);
}
