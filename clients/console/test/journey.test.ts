import { fileURLToPath } from "node:url";
import { expect, type Page, test } from "@playwright/test";
import {
  at,
  berth,
  call,
  dateIn,
  day,
  hour,
  leave,
  type Role,
  settled,
  violations,
  visit,
  withBrowser,
} from "./browser";

withBrowser();

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Checks a page's accessibility and, when pictures are taken, takes one for the docs. */
async function look(page: Page, picture?: string): Promise<void> {
  await settled(page);
  expect(await violations(page), page.url()).toEqual([]);
  if (!picture || !process.env.PICTURES) return;
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({
    path: fileURLToPath(new URL(`../../../docs/images/${picture}.png`, import.meta.url)),
    animations: "disabled",
  });
}

const titled = (role: Role) => role.charAt(0).toUpperCase() + role.slice(1);

/** Signs in on the demo page. */
async function signIn(page: Page, role: Role): Promise<void> {
  await page.getByRole("button", { name: `${titled(role)} at Harbour Yoga & Strength` }).click();
}

/**
 * Creates a service that sends offers at any time of day, so that the test does not depend on the
 * time.
 */
async function makeService(name: string): Promise<string> {
  const { service } = await call<{ service: Named }>("owner", "CatalogService/CreateService", {
    service: { name, duration: "3600s", defaultCapacity: 2, defaultWaitlistCapacity: 3 },
  });
  await call("owner", "WaitlistService/UpdateWaitlistRules", {
    serviceId: service.id,
    rules: {
      mode: "WAITLIST_MODE_OFFER",
      offersInQuietHours: true,
      minOfferWindow: "60s",
    },
    updateMask: "mode,offersInQuietHours,minOfferWindow",
  });
  return service.id;
}

/** Creates seven drafts on consecutive days. The first starts so soon that check-in is open. */
async function draftWeek(service: string, location: string, title: string): Promise<Date> {
  const first = at(0.6 * hour);
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    Number(
      new Intl.DateTimeFormat("en-GB", {
        timeZone: "Europe/Berlin",
        dateStyle: "short",
        timeStyle: "short",
      })
        .formatToParts(first)
        .find((one) => one.type === type)?.value,
    );
  await call("owner", "SessionService/CreateSeries", {
    series: {
      serviceId: service,
      locationId: location,
      title,
      rule: "FREQ=DAILY;COUNT=7",
      startDate: { year: part("year"), month: part("month"), day: part("day") },
      startTimeOfDay: { hours: part("hour"), minutes: part("minute") },
    },
  });
  return first;
}

test("publishes, books, offers, accepts, checks in and removes a permission", async () => {
  test.setTimeout(600_000);
  const title = "Regatta Prep";
  const { locations } = await call<{ locations: Named[] }>(
    "owner",
    "CatalogService/ListLocations",
    {},
  );
  const harbour = locations.find(({ name }) => name === "Harbour")?.id ?? "";
  const first = await draftWeek(await makeService(title), harbour, title);
  const date = dateIn(0.6 * hour);

  // Everyone signs in, each in their own browser.
  await using owner = await visit({ path: `/?location=${harbour}&date=${date}` });
  await using admin = await visit({ path: `/app/?date=${date}`, width: 390, height: 844 });
  await using coach = await visit({ path: `/app/?date=${date}`, width: 390, height: 844 });
  await using member = await visit({
    path: `/app/?date=${date}`,
    width: 390,
    height: 844,
    position: { latitude: 53.5437, longitude: 9.9668 },
  });
  await look(owner.page);
  for (const [role, { page }] of Object.entries({ owner, admin, coach, member })) {
    await signIn(page, role as Role);
  }

  // The owner publishes a week after a preview.
  await owner.page.getByRole("button", { name: /^Publish \d+ drafts?$/ }).click();
  const drawer = owner.page.getByRole("dialog", { name: "Bulk actions" });
  await drawer.getByRole("cell", { name: title }).first().waitFor();
  await look(owner.page, "publish-week");
  await drawer.getByRole("button", { name: /^Publish \d+ sessions?$/ }).click();
  await owner.page.getByText(/sessions? published$/).waitFor();
  await owner.page
    .getByRole("link", { name: title })
    .filter({ hasNotText: "Draft" })
    .first()
    .waitFor();

  // Two users book both seats. The member's page updates live.
  for (const { page } of [admin, coach]) {
    const place = page.getByRole("article", { name: title });
    await place.getByRole("button", { name: `Book: ${title}` }).click();
    await page.getByRole("dialog", { name: title }).getByRole("button", { name: "Book" }).click();
    await place.getByText("Booked").waitFor();
  }
  await member.page.reload();
  const place = member.page.getByRole("article", { name: title });
  await place.getByText("Full").waitFor();
  await place.getByRole("button", { name: `Join waitlist: ${title}` }).click();
  await look(member.page);
  await member.page
    .getByRole("dialog", { name: title })
    .getByRole("button", { name: "Join waitlist" })
    .click();
  await place.getByText("Waitlist, no. 1").waitFor();
  await member.page.getByRole("link", { name: "My bookings" }).last().click();
  await member.page.getByRole("article", { name: title }).getByText("Waitlist, no. 1").waitFor();

  // Staff cancel a booking; the offer arrives while the member watches.
  await owner.page.getByRole("link", { name: title }).first().click();
  await owner.page.getByRole("heading", { name: title, level: 1 }).waitFor();
  await owner.page.getByText("2 of 2 taken").waitFor();
  await look(owner.page);
  await owner.page.getByRole("button", { name: "Actions: Cleo Coach" }).click();
  await owner.page.getByRole("menuitem", { name: "Cancel booking" }).click();
  await owner.page.getByRole("dialog").getByRole("button", { name: "Cancel booking" }).click();
  const offer = member.page.getByRole("article", { name: `A seat for you: ${title}` });
  await offer.waitFor();
  await offer.getByRole("timer").waitFor();
  await look(member.page, "member-offer");
  await owner.page.getByText("Offer sent, expires in").first().waitFor();

  // The offer is accepted through the link in the message. Opening the link changes nothing.
  const link = await claimLink(title);
  await using phone = await visit({ path: "", width: 390, height: 844 });
  await phone.page.goto(link);
  await phone.page.getByRole("heading", { name: title }).waitFor();
  await look(phone.page);
  await offer.waitFor();
  await phone.page.getByRole("button", { name: "Yes, I’ll take it" }).click();
  await phone.page.getByRole("heading", { name: "You’re in" }).waitFor();
  await look(phone.page);
  const ticket = member.page.getByRole("article", { name: title, exact: true });
  await ticket.getByRole("link", { name: "Check in" }).waitFor();
  await owner.page.getByRole("cell", { name: /^Mona Member/ }).waitFor();

  // The member checks in; the check-in display and the roster show it.
  await using wall = await visit({ path: "", width: 1280, height: 720 });
  const sessionId = await sessionOf(title, first);
  const { url } = await call<{ url: string }>("coach", "CheckInService/CreateDisplayLink", {
    sessionId,
  });
  await wall.page.goto(url);
  await wall.page.getByText("of 2 here").waitFor();
  await ticket.getByRole("link", { name: "Check in" }).click();
  await look(member.page);
  await member.page.getByRole("button", { name: "Use GPS" }).click();
  await member.page.getByText("You are checked in").waitFor();
  await owner.page.getByText("1 of 2 checked in").waitFor();
  await wall.page.reload();
  await wall.page.getByText("Mona M.").waitFor();
  await wall.page.getByRole("img", { name: "QR code to check in" }).waitFor();
  await look(wall.page, "wall");
  await leave(sessionId);

  // A permission is given and removed; its page disappears from the other browser.
  await call("owner", "AccessService/CreateRole", {
    name: "bookkeeper",
    role: { title: "Bookkeeper", permissions: ["audit.read"] },
  });
  const { member: cleo } = await call<{ member: Named }>("coach", "MemberService/GetMe", {});
  await call("owner", "AccessService/AssignRole", { memberId: cleo.id, role: "bookkeeper" });
  await coach.page.goto(`${berth().address}/audit`);
  await coach.page.getByRole("cell", { name: "role.created" }).first().waitFor();
  await owner.page.goto(`${berth().address}/roles`);
  await owner.page.getByRole("button", { name: "Edit Bookkeeper" }).click();
  const edit = owner.page.getByRole("dialog", { name: "Edit Bookkeeper" });
  await look(owner.page, "role");
  await edit.getByRole("checkbox", { name: /Read the audit log/ }).uncheck();
  await edit.getByRole("checkbox", { name: /Read who has booked a session/ }).check();
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "hidden" });
  await coach.page.getByRole("heading", { name: "You don’t have access" }).waitFor();
  await expect(coach.page.getByRole("link", { name: "Audit log" })).toHaveCount(0);
  await look(coach.page);
  // Closing a browser fails if it has errors in its console.
});

/** The link in the message about an offer. */
async function claimLink(title: string): Promise<string> {
  const find = async () => {
    const { messages = [] } = await call<{ messages?: unknown[] }>(
      "owner",
      "NotificationService/ListNotificationOutbox",
      { pageSize: 100 },
    );
    const texts = messages.map((message) => JSON.stringify(message));
    const told = texts.find((text) => text.includes(title) && text.includes("/claim/"));
    return /https?:[^"\s\\<>]*\/claim\/[\w-]+/.exec(told ?? "")?.[0];
  };
  let link: string | undefined;
  await expect(async () => {
    link = await find();
    expect(link).toBeDefined();
  }).toPass({ timeout: 60_000, intervals: [250] });
  return link ?? "";
}

async function sessionOf(title: string, start: Date): Promise<string> {
  const { sessions } = await call<{ sessions: { id: string; title: string }[] }>(
    "coach",
    "SessionService/ListSessions",
    {
      filter: {
        startsWithin: {
          start: start.toISOString(),
          end: new Date(start.getTime() + day).toISOString(),
        },
      },
      pageSize: 500,
    },
  );
  const found = sessions.find((one) => one.title === title);
  if (!found) throw new Error("the session is not there");
  return found.id;
}
