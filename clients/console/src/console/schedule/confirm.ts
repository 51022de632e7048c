import type { Session } from "@berthhq/client";
import type { Messages } from "../../i18n";
import { ask } from "../../shared/ask";

/** Asks for confirmation if the session has bookings, because they move with it. */
export async function confirmMove(session: Session, when: string, t: Messages): Promise<boolean> {
  const answer = await ask({
    title: t.schedule.moveTitle(session.title),
    body: t.schedule.moveBooked(session.seatsTaken, when),
    yes: t.schedule.move,
  });
  return answer !== undefined;
}
