import { call, club, day, makeSession, type Role } from "./browser";

export interface Page {
  readonly name: string;
  readonly path: string;
  readonly role?: Role;
  readonly tenant?: number;
  /** Text that is shown once the page has loaded. */
  readonly there: string;
  readonly width?: number;
}

/** The pages of both apps. */
export const pages: readonly Page[] = [
  { name: "sign-in", path: "/", there: "Sign in as" },
  { name: "schedule", path: "/", role: "owner", there: "Schedule" },
  { name: "schedule by coach", path: "/?view=day&by=coach", role: "owner", there: "Schedule" },
  { name: "setup", path: "/setup", role: "owner", there: "Start from a template" },
  {
    name: "setup on a phone",
    path: "/setup",
    role: "owner",
    there: "Start from a template",
    width: 390,
  },
  { name: "session", path: "/sessions/", role: "owner", there: "Roster" },
  { name: "tee sheet", path: "/tee-sheet", role: "owner", tenant: club, there: "Tee sheet" },
  { name: "members", path: "/members", role: "owner", there: "Olive Owner" },
  { name: "member", path: "/members/", role: "owner", there: "Profile" },
  { name: "analytics", path: "/analytics", role: "owner", there: "Busiest times" },
  { name: "member on a phone", path: "/members/", role: "owner", there: "Upcoming", width: 390 },
  {
    name: "notification preferences",
    path: "/members/?tab=messages",
    role: "owner",
    there: "Devices",
  },
  { name: "board by coach", path: "/?by=coach", role: "owner", there: "Cleo Coach" },
  { name: "board by location", path: "/?by=location", role: "owner", there: "Harbour" },
  { name: "locations", path: "/catalog", role: "owner", there: "Booking channels" },
  { name: "services", path: "/catalog?tab=services", role: "owner", there: "Vinyasa" },
  {
    name: "services on a phone",
    path: "/catalog?tab=services",
    role: "owner",
    there: "Vinyasa",
    width: 390,
  },
  { name: "resources", path: "/catalog?tab=resources", role: "owner", there: "Type", tenant: club },
  { name: "staff", path: "/catalog?tab=staff", role: "owner", there: "Olive Owner" },
  { name: "items", path: "/catalog?tab=items", role: "owner", there: "In use for", tenant: club },
  {
    name: "benefits",
    path: "/catalog?tab=benefits",
    role: "owner",
    there: "Memberships with partners",
  },
  { name: "organization", path: "/catalog?tab=organization", role: "owner", there: "Currency" },
  {
    name: "organization on a phone",
    path: "/catalog?tab=organization",
    role: "owner",
    there: "Currency",
    width: 390,
  },
  { name: "catalog of a coach", path: "/catalog", role: "coach", there: "Booking channels" },
  {
    name: "workouts",
    path: "/workouts",
    role: "owner",
    there: "Workout plans that you can attach",
  },
  { name: "imports", path: "/imports", role: "owner", there: "Drop a CSV file here" },
  {
    name: "imports on a phone",
    path: "/imports?what=members",
    role: "owner",
    there: "Drop a CSV file here",
    width: 390,
  },
  {
    name: "session on a phone",
    path: "/sessions/",
    role: "owner",
    there: "Roster",
    width: 390,
  },
  { name: "plans", path: "/plans", role: "owner", there: "Unlimited" },
  { name: "policies", path: "/policies", role: "owner", there: "Free cancellation" },
  { name: "waitlist", path: "/waitlist", role: "owner", there: "Everyone who waits" },
  {
    name: "waitlist on a phone",
    path: "/waitlist",
    role: "owner",
    there: "Everyone who waits",
    width: 390,
  },
  {
    name: "history of the waitlist",
    path: "/waitlist?tab=history",
    role: "owner",
    there: "Everyone who waits",
  },
  { name: "waitlist rules", path: "/waitlist-rules", role: "owner", there: "Time to answer" },
  {
    name: "waitlist rules on a phone",
    path: "/waitlist-rules",
    role: "owner",
    there: "Time to answer",
    width: 390,
  },
  {
    name: "history of the waitlist rules",
    path: "/waitlist-rules?tab=versions",
    role: "owner",
    there: "Changes",
    width: 390,
  },
  {
    name: "waitlist analytics",
    path: "/waitlist-rules?tab=figures",
    role: "owner",
    there: "By location",
  },
  {
    name: "waitlist analytics on a phone",
    path: "/waitlist-rules?tab=figures",
    role: "owner",
    there: "By location",
    width: 390,
  },
  { name: "messages", path: "/messages", role: "owner", there: "Segments" },
  { name: "outbox", path: "/messages?tab=outbox", role: "owner", there: "Nothing is sent" },
  {
    name: "outbox on a phone",
    path: "/messages?tab=outbox",
    role: "owner",
    there: "Nothing is sent",
    width: 390,
  },
  {
    name: "templates",
    path: "/messages?tab=templates&channel=3",
    role: "owner",
    there: "Variables",
  },
  {
    name: "templates on a phone",
    path: "/messages?tab=templates&topic=4&channel=1",
    role: "owner",
    there: "Variables",
    width: 390,
  },
  { name: "message settings", path: "/messages?tab=settings", role: "owner", there: "Reminders" },
  { name: "senders", path: "/messages?tab=senders", role: "owner", there: "Use your own account" },
  { name: "roles", path: "/roles", role: "owner", there: "Permission" },
  { name: "roles on a phone", path: "/roles", role: "owner", there: "Permission", width: 390 },
  { name: "people by role", path: "/roles?tab=people", role: "owner", there: "Olive Owner" },
  { name: "service accounts", path: "/service-accounts", role: "owner", there: "Partner app" },
  { name: "audit log", path: "/audit", role: "owner", there: "Target" },
  { name: "no permission", path: "/audit", role: "coach", there: "You don’t have access" },
  { name: "unknown page", path: "/nowhere", role: "owner", there: "Page not found" },
  { name: "schedule on a phone", path: "/", role: "owner", there: "Today", width: 390 },
  { name: "member's week", path: "/app/", role: "member", there: "Hello Mona", width: 390 },
  {
    name: "member's bookings",
    path: "/app/bookings",
    role: "member",
    there: "My bookings",
    width: 390,
  },
  {
    name: "waitlist for a time window",
    path: "/app/wait",
    role: "member",
    there: "Wait for a time window",
    width: 390,
  },
  {
    name: "waitlist for several sessions",
    path: "/app/wait/any",
    role: "member",
    there: "Wait for one of several sessions",
    width: 390,
  },
  { name: "member's credits", path: "/app/credits", role: "member", there: "Credits", width: 390 },
  { name: "member's profile", path: "/app/me", role: "member", there: "Your details", width: 390 },
];

/** Adds the id of a new session, or of the demo member, to a path that needs one. */
export async function withId(path: string): Promise<string> {
  if (path === "/sessions/") return path + (await makeSession("Example", 6 * day));
  if (!/^\/members\/(\?|$)/.test(path)) return path;
  const { member } = await call<{ member: { id: string } }>("member", "MemberService/GetMe", {});
  return path.replace("/members/", `/members/${member.id}`);
}
