import { list, route, text } from "../shared/routing/route";

/** The pages of the app. */
export const routes = {
  week: route("/", { date: text() }),
  bookings: route("/bookings"),
  reschedule: route("/move/:booking"),
  checkIn: route("/checkin/:session"),
  waitForWindow: route("/wait"),
  waitForAny: route("/wait/any", { session: list }),
  credits: route("/credits"),
  account: route("/me"),
};
