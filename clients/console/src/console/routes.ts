import { Temporal } from "../shared/format/time";
import { number, oneOf, route, text } from "../shared/routing/route";

/** A date such as 2026-03-18. Invalid dates count as absent. */
const date = {
  read: ([value]: readonly string[]): Temporal.PlainDate | undefined => {
    try {
      return value ? Temporal.PlainDate.from(value) : undefined;
    } catch {
      return undefined;
    }
  },
  write: (day: Temporal.PlainDate | undefined) => (day ? [day.toString()] : []),
};

/** The selected tab of a page. The first tab has no parameter. */
const tab = text();

/** The level of the shown settings: "tenant", "location:id" or "service:id". */
const level = text("tenant");

/** The pages of the console, with their search parameters. */
export const routes = {
  schedule: route("/", {
    date,
    view: oneOf("week", "day"),
    by: oneOf("", "location", "resource", "coach"),
    location: text(),
    /** Opens the form of a new session. */
    new: text(),
  }),
  setup: route("/setup"),
  session: route("/sessions/:id"),
  teeSheet: route("/tee-sheet", { date, tee: text() }),
  members: route("/members", { tab }),
  member: route("/members/:id", { tab }),
  analytics: route("/analytics", { days: number(28), location: text(), service: text() }),
  catalog: route("/catalog", { tab }),
  workouts: route("/workouts"),
  plans: route("/plans"),
  policies: route("/policies", { for: level }),
  waitlist: route("/waitlist", {
    tab,
    date,
    service: text(),
    location: text(),
    status: number(),
  }),
  waitlistRules: route("/waitlist-rules", { tab, for: level, days: number(30) }),
  messages: route("/messages", {
    tab,
    member: text(),
    topic: number(),
    channel: number(),
    status: number(),
    locale: text(),
  }),
  imports: route("/imports", { what: tab }),
  roles: route("/roles", { tab }),
  accounts: route("/service-accounts"),
  audit: route("/audit", {
    kind: text(),
    actor: number(),
    action: text(),
    target: text(),
    batch: text(),
  }),
};

/** The parameters that components of several pages read. */
export const common = { tab, what: tab, for: level };
