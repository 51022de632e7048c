import { expect, test } from "@playwright/test";
import { berth, newTenant, type Role, studio, visit, withBrowser } from "./browser";

withBrowser();

const pages: Record<Exclude<Role, "member">, string[]> = {
  owner: [
    "Schedule",
    "Members",
    "Waitlist",
    "Analytics",
    "Catalog",
    "Workouts",
    "Plans",
    "Policies",
    "Waitlist rules",
    "Messages",
    "Import",
    "Roles",
    "Service accounts",
    "Audit log",
  ],
  admin: [
    "Schedule",
    "Members",
    "Waitlist",
    "Analytics",
    "Catalog",
    "Workouts",
    "Plans",
    "Policies",
    "Waitlist rules",
    "Messages",
    "Import",
    "Roles",
    "Service accounts",
    "Audit log",
  ],
  coach: ["Schedule", "Members", "Waitlist", "Catalog", "Workouts", "Plans", "Policies", "Roles"],
};

test.describe("one click signs in", () => {
  for (const [role, want] of Object.entries(pages)) {
    test(`as ${role}, with only the permitted pages`, async () => {
      await using there = await visit();
      const { page } = there;
      const name = role.charAt(0).toUpperCase() + role.slice(1);
      await page.getByRole("button", { name: `${name} at Harbour Yoga & Strength` }).click();
      const main = page.getByRole("navigation", { name: "Main" });
      await main.getByRole("link", { name: "Schedule" }).waitFor();
      expect(await main.getByRole("link").allTextContents()).toEqual(want);
    });
  }

  test("as a member, with a link to the member app", async () => {
    await using there = await visit();
    const { page } = there;
    await page.getByRole("button", { name: "Member at Harbour Yoga & Strength" }).click();
    await page.getByRole("heading", { name: "This area is for staff" }).waitFor();
    await page.getByRole("link", { name: "Member app" }).click();
    await page.getByRole("heading", { name: "Hello Mona" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/app/");
  });
});

test("returns to the requested page", async () => {
  await using there = await visit({ path: "/members?tab=x" });
  await there.page.getByRole("button", { name: "Coach at Harbour Yoga & Strength" }).click();
  await there.page.getByRole("heading", { name: "Members", level: 1 }).waitFor();
});

test("shows a missing permission", async () => {
  await using there = await visit({ role: "coach", path: "/audit" });
  await there.page.getByRole("heading", { name: "You don’t have access" }).waitFor();
  await there.page.getByText("audit.read").waitFor();
});

test("signs out and stays signed out", async () => {
  await using there = await visit({ role: "owner" });
  const { page } = there;
  await page.getByRole("button", { name: /Olive Owner/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in as" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Sign in as" }).waitFor();
});

test("is translated to German and French", async () => {
  await using german = await visit({ role: "owner", locale: "de-DE" });
  await german.page.getByRole("link", { name: "Kalender" }).first().waitFor();
  expect(await german.page.locator("html").getAttribute("lang")).toBe("de");
  await german.page.getByRole("button", { name: /Olive Owner/ }).click();
  await german.page.getByRole("menuitem", { name: "Français" }).click();
  await german.page.getByRole("link", { name: "Planning" }).first().waitFor();
});

test("has a strict content security policy", async () => {
  const answer = await fetch(`${berth().address}/members`);
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
});

for (const { path, width } of [
  { path: "/", width: 1440 },
  { path: "/app/", width: 390 },
]) {
  // The page shows that it loads, and does not lose its patience with the first script's calls.
  for (const late of [0, 1500]) {
    test(`${path} asks once who the user is, ${late} ms late`, async () => {
      await using there = await visit({ role: "owner", path: "", width, fresh: true });
      const { page } = there;
      let calls = 0;
      await page.route("**/berth.v1.MemberService/GetMe", async (route) => {
        calls++;
        await new Promise((done) => setTimeout(done, late));
        await route.continue();
      });
      const watched = page.waitForRequest((request) => request.url().includes("/WatchEvents"));
      await page.goto(berth().address + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await watched; // events that were missed make the page read everything else again
      await page.waitForTimeout(3000);
      expect(calls).toBe(1);
      await page.waitForRequest((request) => request.url().includes(".MemberService/GetMe")); // polled
    });
  }
}

test("lists every organization, those created since too", async () => {
  for (let n = 0; n < 22; n++) await newTenant(`Café Nord ${n}`);
  const last = await newTenant("Zum Großen Bären");
  await using there = await visit({ width: 390 });
  const { page } = there;
  const owner = (name: string) =>
    page.getByRole("button", { name: `Owner at ${name}`, exact: true });
  await owner("Zum Großen Bären").waitFor();
  await expect(owner("Café Nord 0")).toHaveCount(0);
  while (!(await owner("Café Nord 0").isVisible())) {
    const shown = await page.getByRole("button", { name: /^Owner at / }).count();
    await page.getByRole("button", { name: "Show more" }).click();
    await expect
      .poll(() => page.getByRole("button", { name: /^Owner at / }).count())
      .not.toBe(shown);
  }
  const find = page.getByRole("searchbox", { name: "Find an organization" });
  await find.fill("cafe nord 0");
  await expect(page.getByRole("button", { name: /^Owner at / })).toHaveCount(1);
  await find.fill("nowhere");
  await page.getByText("No organization has this name.").waitFor();
  await find.fill("GROSSEN baren");
  await expect(page.getByRole("button", { name: /^Owner at / })).toHaveCount(1);
  expect(await page.evaluate(() => document.body.scrollWidth <= innerWidth)).toBe(true);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}-organizations.png` });
  await owner("Zum Großen Bären").click();
  await page
    .getByRole("navigation", { name: "Main" })
    .or(page.getByRole("banner"))
    .first()
    .waitFor();
  expect(await page.evaluate(() => localStorage.getItem("berth.person"))).toContain(last.tenant);
});

// A program's token names the tenant, and is no member's.
for (const { path, width } of [
  { path: "/members", width: 1440 },
  { path: "/app/", width: 390 },
]) {
  test(`shows who is no member what to do, at ${path} and ${width} pixels`, async () => {
    await using there = await visit({ role: "member", path: "", width, fresh: true });
    const { page } = there;
    const token = berth().tenants[studio]?.tokens.partner ?? "";
    await page.route("**/dev/token", (route) => route.fulfill({ json: { access_token: token } }));
    let calls = 0;
    page.on("request", (request) => {
      if (request.url().includes(".MemberService/GetMe")) calls++;
    });
    await page.goto(berth().address + path);
    await page.getByRole("heading", { name: "You are not a member here yet" }).waitFor();
    const { sub } = JSON.parse(atob(token.split(".")[1] ?? ""));
    await page.getByText(`You are signed in as ${sub}.`).waitFor();
    expect(calls).toBe(1);
    expect(await page.evaluate(() => document.body.scrollWidth <= innerWidth)).toBe(true);
    const before = calls;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.waitForEvent("load");
    await page.getByRole("heading", { name: "You are not a member here yet" }).waitFor();
    expect(calls).toBe(before + 1);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}-${width}.png` });
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in as" }).waitFor();
  });
}

// The server says whether it trusts the provider's addresses.
test("makes a person the member with their email, with one call", async () => {
  await using there = await visit({ role: "member", path: "", width: 390, fresh: true });
  const { page } = there;
  const { partner = "", member = "" } = berth().tenants[studio]?.tokens ?? {};
  await page.route("**/console/config.json", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ json: { ...(await answer.json()), link_by_email: true } });
  });
  await page.route("**/dev/token", (route) => route.fulfill({ json: { access_token: partner } }));
  let links = 0;
  await page.route("**/berth.v1.MemberService/LinkMe", async (route) => {
    links++;
    await route.continue();
  });
  await page.goto(`${berth().address}/app/`);
  await page.getByRole("heading", { name: "You are not a member here yet" }).waitFor();
  expect(links).toBe(1);
  // From the second visit on the account is a member's.
  let linked = false;
  await page.unroute("**/berth.v1.MemberService/LinkMe");
  await page.route("**/berth.v1.MemberService/LinkMe", async (route) => {
    linked = true;
    await route.fulfill({ json: {} });
  });
  await page.route("**/berth.v1.*/*", async (route) => {
    const headers = route.request().headers();
    await (linked
      ? route.fallback({ headers: { ...headers, authorization: `Bearer ${member}` } })
      : route.fallback());
  });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "Bookings" }).first().waitFor();
  expect(linked).toBe(true);
});

// With a provider, the page of an invitation leads here, and the person signs in first.
test("makes a person the member whom they were invited as, with one call", async () => {
  await using there = await visit({ role: "member", path: "", width: 390, fresh: true });
  const { page } = there;
  const { partner = "", member = "" } = berth().tenants[studio]?.tokens ?? {};
  await page.route("**/dev/token", (route) => route.fulfill({ json: { access_token: partner } }));
  const links: unknown[] = [];
  await page.route("**/berth.v1.InvitationService/AcceptInvitation", async (route) => {
    links.push(route.request().postDataJSON().link);
    await route.continue();
  });
  await page.goto(`${berth().address}/app/?invitation=forged`);
  await page.getByRole("heading", { name: "You are not a member here yet" }).waitFor();
  expect(links).toEqual(["forged"]);
  await page.unroute("**/berth.v1.InvitationService/AcceptInvitation");
  await page.route("**/berth.v1.InvitationService/AcceptInvitation", async (route) => {
    links.push(route.request().postDataJSON().link);
    await route.fulfill({ json: {} });
  });
  await page.route("**/berth.v1.*/*", async (route) => {
    const headers = route.request().headers();
    await (links.length > 1
      ? route.fallback({ headers: { ...headers, authorization: `Bearer ${member}` } })
      : route.fallback());
  });
  await page.goto(`${berth().address}/app/bookings?invitation=good`);
  await page.getByRole("heading", { name: "My bookings" }).waitFor();
  expect(links).toEqual(["forged", "good"]);
  expect(page.url()).toBe(`${berth().address}/app/bookings`);
  there.complaints.splice(0); // the refusals, in the console
});
