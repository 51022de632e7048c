import type { Session } from "@berthhq/client";
import type { Messages } from "../../i18n";
import { ask } from "../../shared/ask";

/** Bookings move along with their session, so whoever moves it should know. */
export async function confirmMove(session: Session, when: string, t: Messages): Promise<boolean> {
  const answer = await ask({
    title: t.schedule.moveTitle(session.title),
    body: t.schedule.moveBooked(session.seatsTaken, when),
    yes: t.schedule.move,
  });
  return answer !== undefined;
}
