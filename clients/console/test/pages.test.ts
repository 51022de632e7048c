import { expect, it } from "vitest";
import {
  call,
  club,
  day,
  faults,
  makeSession,
  type Role,
  settled,
  studio,
  visit,
  withBrowser,
} from "./browser";

withBrowser();

interface Page {
  readonly name: string;
  readonly path: string;
  readonly role?: Role;
  readonly tenant?: number;
  /** The heading or text that says that the page is there. */
  readonly there: string;
  readonly width?: number;
}

const pages: readonly Page[] = [
  { name: "sign-in", path: "/", there: "Sign in as" },
  { name: "schedule", path: "/", role: "owner", there: "Schedule" },
  { name: "schedule by coach", path: "/?view=day&by=coach", role: "owner", there: "Schedule" },
  { name: "session", path: "/sessions/", role: "owner", there: "Roster" },
  { name: "tee sheet", path: "/tee-sheet", role: "owner", tenant: club, there: "Tee sheet" },
  { name: "members", path: "/members", role: "owner", there: "Olive Owner" },
  { name: "member", path: "/members/", role: "owner", there: "Profile" },
  { name: "attendance", path: "/analytics", role: "owner", there: "Busiest times" },
  { name: "members to come", path: "/members/", role: "owner", there: "Upcoming", width: 390 },
  { name: "reach", path: "/members/?tab=messages", role: "owner", there: "Devices" },
  { name: "board by coach", path: "/?by=coach", role: "owner", there: "Cleo Coach" },
  { name: "board by location", path: "/?by=location", role: "owner", there: "Harbour" },
  { name: "locations", path: "/catalog", role: "owner", there: "Booking channels" },
  { name: "services", path: "/catalog?tab=services", role: "owner", there: "Vinyasa" },
  {
    name: "services on a telephone",
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
  { name: "catalog of a coach", path: "/catalog", role: "coach", there: "Booking channels" },
  {
    name: "workouts",
    path: "/workouts",
    role: "owner",
    there: "Workout plans that you can attach",
  },
  { name: "imports", path: "/imports", role: "owner", there: "Drop a CSV file here" },
  {
    name: "imports on a telephone",
    path: "/imports?what=members",
    role: "owner",
    there: "Drop a CSV file here",
    width: 390,
  },
  {
    name: "session on a telephone",
    path: "/sessions/",
    role: "owner",
    there: "Roster",
    width: 390,
  },
  { name: "plans", path: "/plans", role: "owner", there: "Unlimited" },
  { name: "policies", path: "/policies", role: "owner", there: "Free cancellation" },
  { name: "waitlist rules", path: "/waitlist", role: "owner", there: "Time to answer" },
  {
    name: "waitlist rules on a telephone",
    path: "/waitlist",
    role: "owner",
    there: "Time to answer",
    width: 390,
  },
  {
    name: "history of the waitlist rules",
    path: "/waitlist?tab=versions",
    role: "owner",
    there: "Changes",
    width: 390,
  },
  { name: "waitlist figures", path: "/waitlist?tab=figures", role: "owner", there: "By location" },
  {
    name: "waitlist figures on a telephone",
    path: "/waitlist?tab=figures",
    role: "owner",
    there: "By location",
    width: 390,
  },
  { name: "messages", path: "/messages", role: "owner", there: "Segments" },
  { name: "outbox", path: "/messages?tab=outbox", role: "owner", there: "Nothing is sent" },
  {
    name: "outbox on a telephone",
    path: "/messages?tab=outbox",
    role: "owner",
    there: "Nothing is sent",
    width: 390,
  },
  {
    name: "wording",
    path: "/messages?tab=templates&channel=3",
    role: "owner",
    there: "Variables",
  },
  {
    name: "wording on a telephone",
    path: "/messages?tab=templates&topic=4&channel=1",
    role: "owner",
    there: "Variables",
    width: 390,
  },
  { name: "message settings", path: "/messages?tab=settings", role: "owner", there: "Reminders" },
  { name: "senders", path: "/messages?tab=senders", role: "owner", there: "Use your own account" },
  { name: "roles", path: "/roles", role: "owner", there: "Permission" },
  { name: "who has what", path: "/roles?tab=people", role: "owner", there: "Olive Owner" },
  { name: "service accounts", path: "/service-accounts", role: "owner", there: "Partner app" },
  { name: "audit log", path: "/audit", role: "owner", there: "Target" },
  { name: "no permission", path: "/audit", role: "coach", there: "You don’t have access" },
  { name: "absent", path: "/nowhere", role: "owner", there: "Page not found" },
  { name: "schedule on a telephone", path: "/", role: "owner", there: "Today", width: 390 },
  { name: "member's week", path: "/app/", role: "member", there: "Hello Mona", width: 390 },
  {
    name: "member's bookings",
    path: "/app/bookings",
    role: "member",
    there: "My bookings",
    width: 390,
  },
  {
    name: "member's wish",
    path: "/app/wait",
    role: "member",
    there: "Wait for a time window",
    width: 390,
  },
  {
    name: "member's choice",
    path: "/app/wait/any",
    role: "member",
    there: "Wait for one of several sessions",
    width: 390,
  },
  { name: "member's credits", path: "/app/credits", role: "member", there: "Credits", width: 390 },
  { name: "member's profile", path: "/app/me", role: "member", there: "Your details", width: 390 },
];

it.each(pages)("$name has no serious fault", async ({ path, role, tenant, there, width }) => {
  const full =
    path === "/sessions/"
      ? path + (await makeSession("Looked at", 6 * day))
      : path.replace(
          /^\/members\/(?=\?|$)/,
          `/members/${(await call<{ member: { id: string } }>("member", "MemberService/GetMe", {})).member.id}`,
        );
  await using visited = await visit({
    path: full,
    ...(role && { role }),
    tenant: tenant ?? studio,
    ...(width && { width, height: 844 }),
  });
  const { page } = visited;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`[data-mantine-color-scheme=${colorScheme}]`).waitFor();
    await page.getByText(there).filter({ visible: true }).first().waitFor();
    await settled(page);
    expect(await faults(page), colorScheme).toEqual([]);
  }
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
  ).toBeLessThanOrEqual(0);
});

it.each([
  ["a new session", "/", "New session"],
  ["many sessions", "/", "Bulk actions"],
  ["a new plan", "/plans", "New plan"],
  ["a new role", "/roles", "New role"],
  ["a new member", "/members", "Add member"],
  ["a new location", "/catalog", "New location"],
  ["a new service", "/catalog?tab=services", "New service"],
  ["a new resource", "/catalog?tab=resources", "New resource"],
  ["a new item", "/catalog?tab=items", "New item"],
  ["a new benefit", "/catalog?tab=benefits", "New partner benefit"],
  ["somebody new in the team", "/catalog?tab=staff", "Add staff"],
  ["a new workout", "/workouts", "New workout"],
])("the form for %s has no serious fault", async (_, path, button) => {
  await using there = await visit({ role: "owner", path });
  await there.page.getByRole("button", { name: button }).click();
  const dialog = there.page.getByRole("dialog");
  await dialog.getByRole("button").last().waitFor();
  await there.page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== "running"),
  );
  expect(await faults(there.page)).toEqual([]);
});

it("finds places and people by the keyboard alone", async () => {
  await using there = await visit({ role: "owner" });
  const { page } = there;
  await page.getByRole("link", { name: "Schedule" }).waitFor();
  await page.keyboard.press("Control+k");
  const search = page.getByPlaceholder("Search pages, people and actions…");
  await search.fill("Mona");
  await page.getByText("Mona Member").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Mona Member/ }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Roles", level: 1 }).waitFor();
});

it("leads on from the menu of a telephone, which closes then", async () => {
  await using there = await visit({ role: "owner", width: 390, height: 844 });
  const { page } = there;
  await page.getByRole("button", { name: "Menu" }).click();
  const menu = page.getByRole("dialog", { name: "Menu" });
  await menu.getByRole("link", { name: "Catalog" }).click();
  await page.getByRole("heading", { name: "Catalog", level: 1 }).waitFor();
  await menu.waitFor({ state: "hidden" });
});
