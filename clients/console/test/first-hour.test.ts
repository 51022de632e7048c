import { expect, type Locator, type Page, test } from "@playwright/test";
import {
  at,
  berth,
  day,
  newTenant,
  newTenantByLink,
  type Person,
  settled,
  violations,
  visit,
  withBrowser,
} from "./browser";

/* The first hour of a tenant that has nothing yet. */

withBrowser();

const dialog = (page: Page, title: string) => page.getByRole("dialog", { name: title });

/** Fills in the form of what a select lacks, over the form that it is part of. */
async function addInPlace(page: Page, field: string, option: string, name: string): Promise<void> {
  await dialog(page, "New session").getByRole("combobox", { name: field }).click();
  await page.getByRole("option", { name: `+ ${option}` }).click();
  const form = dialog(page, option);
  await form.getByRole("textbox", { name: "Name" }).fill(name);
  await form.getByRole("button", { name: "Create" }).click();
  await form.waitFor({ state: "hidden" });
}

test.describe("an empty tenant", () => {
  let owner: Person;
  test.beforeAll(async () => {
    owner = await newTenant("Nothing yet");
  });

  for (const [path, says, act] of [
    ["/", "No sessions scheduled", "Getting started"],
    ["/?by=location", "No sessions scheduled", "Getting started"],
    ["/setup", "0 of 7 steps done", "New location"],
    ["/tee-sheet", "No tees yet", "Catalog"],
    ["/catalog", "No locations yet", "New location"],
    ["/catalog?tab=services", "No services yet", "New service"],
    ["/catalog?tab=resources", "No resources yet", "New resource"],
    ["/catalog?tab=items", "No items yet", "New item"],
    ["/plans", "No plans yet", "New plan"],
    ["/app/", "No sessions to book yet", "Staff console"],
    ["/app/wait", "No sessions to book yet", ""],
    ["/app/wait/any", "Wait for one of several sessions", ""],
  ] as const) {
    for (const width of [1440, 390]) {
      test(`${path} says what to do first, ${width} pixels wide`, async () => {
        await using there = await visit({ person: owner, path, width });
        const { page } = there;
        await page.getByText(says).waitFor();
        await settled(page); // no skeleton stays
        const action = page
          .getByRole("button", { name: act })
          .or(page.getByRole("link", { name: act }));
        if (act) await action.filter({ visible: true }).last().waitFor();
        expect(await violations(page)).toEqual([]);
      });
    }
  }
});

for (const width of [1440, 1024, 390]) {
  test(`the form of a session creates what it lacks, ${width} pixels wide`, async () => {
    const person = await newTenant(`In place ${width}`);
    await using there = await visit({ person, width, path: "/" });
    const { page } = there;
    await page.getByRole("button", { name: "Create your first session" }).click();
    const form = dialog(page, "New session");
    await form.getByText("Repeats").waitFor();
    await expect(form.getByText("Times in")).toHaveCount(0); // there is no location whose they are

    await form.getByRole("combobox", { name: "Location" }).click();
    await page.getByRole("option", { name: "+ New location" }).click();
    const location = dialog(page, "New location");
    await expect(location.getByLabel("Time zone")).toHaveValue("Europe/Berlin"); // the browser's
    await page.keyboard.press("Escape");
    await location.waitFor({ state: "hidden" });
    await expect(form).toBeVisible();

    await addInPlace(page, "Location", "New location", "Riverside");
    await expect(form.getByRole("combobox", { name: "Location" })).toHaveValue("Riverside");
    await form.getByText("Times in Europe/Berlin").waitFor();
    await addInPlace(page, "Service", "New service", "Pilates");
    await expect(form.getByRole("combobox", { name: "Service" })).toHaveValue("Pilates");
    await expect(form.getByLabel("Seats")).toHaveValue("12"); // the service's
    await form.getByRole("combobox", { name: "Coach" }).click();
    await page.getByRole("option", { name: "+ Add staff" }).click();
    const staff = dialog(page, "Add staff");
    await staff.getByText("New person").click();
    await staff.getByRole("textbox", { name: "Name" }).fill("Cara Coach");
    await staff.getByRole("textbox", { name: "Email" }).fill("cara@example.com");
    await staff.getByRole("button", { name: "Add" }).click();
    await expect(form.getByRole("combobox", { name: "Coach" })).toHaveValue("Cara Coach");
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("Pilates was added to the schedule").waitFor();
    await page.getByRole("link", { name: /Pilates/ }).waitFor();

    // The only choices are made already.
    await page.getByRole("button", { name: "New session" }).click();
    await expect(form.getByRole("combobox", { name: "Service" })).toHaveValue("Pilates");
    await expect(form.getByRole("combobox", { name: "Location" })).toHaveValue("Riverside");
    await expect(form.getByRole("combobox", { name: "Coach" })).toHaveValue("Cara Coach");
  });
}

const languages = [
  ["en-GB", "Studio", "Use this template", "Group class", "10 classes"],
  ["de-DE", "Golfclub", "Diese Vorlage verwenden", "Startzeit", "10 Runden"],
  ["de-DE", "Sportanlage", "Diese Vorlage verwenden", "Freies Training", "10 Besuche"],
  ["fr-FR", "Salon", "Utiliser ce modèle", "Coupe", "5 rendez-vous"],
] as const;

for (const [locale, kind, apply, service, plan] of languages) {
  test(`the template for ${kind} adds what is missing, in ${locale}`, async () => {
    const person = await newTenant(kind);
    await using there = await visit({ person, locale, path: "/setup" });
    const { page } = there;
    const add = page.getByRole("button", { name: apply });
    await page.getByRole("radio", { name: kind }).locator("..").click();
    await add.click();
    await add.waitFor({ state: "hidden" });
    await expect(page.locator("li[data-done=true]")).toHaveCount(2); // services and plans
    for (const [path, name] of [
      ["/catalog?tab=services", service],
      ["/plans", plan],
    ] as const) {
      await page.goto(new URL(path, page.url()).href);
      await page.getByRole("button", { name, exact: true }).waitFor();
    }
    await page.goto(new URL("/setup", page.url()).href);
    await page.getByRole("radio", { name: kind }).locator("..").click();
    await page.getByRole("listitem").filter({ hasText: plan }).waitFor();
    await expect(add).toHaveCount(0); // nothing is missing
  });
}

test("steps are skipped and found again, and end when they are true", async () => {
  const person = await newTenant("Step by step");
  await using there = await visit({ person, path: "/setup" });
  const { page } = there;
  const nav = page.getByRole("navigation", { name: "Main" });
  const step = (title: string) => page.getByRole("listitem").filter({ hasText: title });
  await page.getByText("0 of 7 steps done").waitFor();
  await nav.getByRole("link", { name: "Getting started" }).getByText("0/7").waitFor();

  await page.getByRole("button", { name: "I lead sessions myself" }).click();
  await step("Say who leads sessions").getByText("Done").waitFor();
  await page.getByText("1 of 7 steps done").waitFor();

  for (const title of [
    "Add a location",
    "Add what can be booked",
    "Add a plan",
    "Publish your first week",
    "Invite your staff",
    "Invite members",
  ]) {
    await page.getByRole("button", { name: `Skip: ${title}` }).click();
    await step(title).getByText("Skipped").waitFor();
  }
  await page.getByRole("heading", { name: "Members can book" }).waitFor();
  await nav.getByRole("link", { name: "Getting started" }).waitFor({ state: "hidden" });

  await page.goto(new URL("/members", page.url()).href);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("dialog").getByText("Getting started").click();
  await page.getByRole("button", { name: "Take up again: Add a plan" }).click();
  await page.getByRole("button", { name: "New plan" }).waitFor();
  await nav.getByRole("link", { name: "Getting started" }).waitFor();

  // A page elsewhere ends steps, skipped ones too.
  await page.goto(new URL("/plans", page.url()).href);
  await page.getByRole("button", { name: "New plan" }).click();
  await dialog(page, "New plan").getByRole("textbox", { name: "Name" }).fill("Ten");
  await dialog(page, "New plan").getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Ten", exact: true }).waitFor();
  await page.goto(new URL("/catalog", page.url()).href);
  await page.getByRole("button", { name: "New location" }).click();
  await dialog(page, "New location").getByRole("textbox", { name: "Name" }).fill("Riverside");
  await dialog(page, "New location").getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Riverside", exact: true }).waitFor();
  await page.goto(new URL("/setup", page.url()).href);
  await step("Add a plan").getByText("Done").waitFor();
  await step("Add a location").getByText("Done").waitFor();
});

/** The link of the newest mail to an address. */
async function linkTo(address: string): Promise<string> {
  let link = "";
  await expect(async () => {
    const answer = await fetch(`${berth().address}/dev/mails.json`);
    const mails: { to: string; text: string }[] = await answer.json();
    link =
      /http\S+\/invite\/\S+/.exec(mails.find(({ to }) => to === address)?.text ?? "")?.[0] ?? "";
    expect(link).not.toBe("");
  }).toPass();
  return link;
}

async function shot(page: Page, name: string): Promise<void> {
  await settled(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

/** What a clerk at the desk may do. */
const deskPermissions = [
  ...["tenant.read", "catalog.read", "policy.read", "plan.read", "session.read", "waitlist.read"],
  ...["member.read", "member.write", "event.read", "checkin.staff"],
  ...["booking.create", "booking.create_for_others", "booking.read", "booking.roster"],
];

/** Adds a role of the organization's own, as its owner, who is signed in. */
async function addDeskRole(page: Page): Promise<void> {
  const status = await page.evaluate(async (permissions) => {
    const post = (path: string, body: object, headers = {}) =>
      fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    const { access_token } = await (await post("/auth/token", {})).json();
    const role = { title: "Front desk", permissions };
    const headers = { Authorization: `Bearer ${access_token}` };
    const made = { name: "front_desk", role };
    return (await post("/berth.v1.AccessService/CreateRole", made, headers)).status;
  }, deskPermissions);
  expect(status).toBe(200);
}

/** The most clicks from an empty tenant to its first booking. */
const mostClicks = 40;

for (const width of [1440, 1024, 390]) {
  test(`the first hour of an owner, a coach, the desk and a member, ${width} pixels wide`, async () => {
    const mailTo = (name: string) => `${name}.${width}@first.example`;
    let clicks = 0;
    const click = async (target: Locator) => {
      await target.click();
      clicks++;
    };
    const button = (within: Page | Locator, label: string | RegExp) =>
      within.getByRole("button", { name: label, exact: true });
    const accept = (page: Page) => click(button(page, "Accept and sign in"));
    const tomorrow = at(day); // as dateIn counts, also around midnight
    const shown = { day: "2-digit", month: "short", year: "numeric" } as const;
    const date = new Intl.DateTimeFormat("en-GB", { ...shown, timeZone: "Europe/Berlin" });
    const named = { weekday: "short", day: "numeric", timeZone: "Europe/Berlin" } as const;
    const dayName = new Intl.DateTimeFormat("en-GB", named);

    /** Opens the week of tomorrow in the console: this one or, on its last day, the next. */
    const toTomorrow = async (page: Page) => {
      if (new URL(page.url()).pathname !== "/") {
        if (width < 900) await button(page, "Menu").click();
        await page.getByRole("navigation").getByRole("link", { name: "Schedule" }).click();
      }
      if (dayName.format().startsWith("Sun")) await button(page, "Next").click();
      await page.getByRole("link", { name: /Group class/ }).waitFor();
    };

    // The owner makes a location, what can be booked, and a first session, and invites the others.
    await using desk = await visit({ width, path: "" });
    {
      const { page } = desk;
      await page.goto(await newTenantByLink(`First hour ${width}`, mailTo("olga")));
      await shot(page, `first-hour-link-${width}`);
      expect(await violations(page)).toEqual([]);
      await accept(page);
      await click(page.getByRole("main").getByRole("link", { name: "Getting started" }));
      await click(button(page, "New location"));
      const location = dialog(page, "New location");
      await location.getByRole("textbox", { name: "Name" }).fill("Riverside");
      await click(button(location, "Create"));
      await click(button(page, "Use this template"));
      await button(page, "Use this template").waitFor({ state: "hidden" });

      await click(page.getByRole("link", { name: "New session" }));
      const form = dialog(page, "New session");
      await click(form.getByRole("combobox", { name: "Service" }));
      await click(page.getByRole("option", { name: "Group class" }));
      await expect(form.getByRole("combobox", { name: "Location" })).toHaveValue("Riverside");
      await click(form.getByRole("combobox", { name: "Coach" }));
      await click(page.getByRole("option", { name: "+ Add staff" }));
      const staff = dialog(page, "Add staff");
      await click(staff.getByText("New person"));
      await staff.getByRole("textbox", { name: "Name" }).fill("Cara Coach");
      await staff.getByRole("textbox", { name: "Email" }).fill(mailTo("cara"));
      await click(button(staff, "Add"));
      await expect(form.getByRole("combobox", { name: "Coach" })).toHaveValue("Cara Coach");
      await form.getByLabel("Date").fill(date.format(tomorrow));
      await click(button(form, "Create"));
      await page.getByText("Group class was added to the schedule").waitFor();

      if (width < 900) await click(button(page, "Menu"));
      await click(page.getByRole("link", { name: "Getting started" }));
      const invite = dialog(page, "Invite");
      const invited = async (name: string) => {
        const address = mailTo(name.toLowerCase());
        await invite.getByRole("textbox", { name: "Name" }).fill(name);
        await invite.getByRole("textbox", { name: "Email" }).fill(address);
        await click(button(invite, "Invite"));
        await page.getByText(`Invitation sent to ${address}`).waitFor();
        await invite.waitFor({ state: "hidden" });
      };
      await page.getByText("6 of 7 steps done").waitFor();
      const members = page.getByRole("listitem").filter({ hasText: "Invite members" });
      await click(button(members, "Invite"));
      await invited("Mia");
      await shot(page, `first-hour-owner-${width}`);
      expect(await violations(page)).toEqual([]);

      await addDeskRole(page);
      if (width < 900) await click(button(page, "Menu"));
      await click(page.getByRole("navigation").getByRole("link", { name: "Members" }));
      await click(button(page, "Invite"));
      await click(invite.getByRole("combobox", { name: "Role" }));
      await click(page.getByRole("option", { name: "Front desk" }));
      await invited("Dana");
    }

    // The member books.
    {
      await using phone = await visit({ width, path: "" });
      const { page } = phone;
      await page.goto(await linkTo(mailTo("mia")));
      await accept(page);
      await page.getByRole("heading", { name: "Hello Mia" }).waitFor();
      const days = page.getByRole("navigation", { name: "Date" });
      await click(days.getByRole("button", { name: new RegExp(`^${dayName.format(tomorrow)}`) }));
      await click(button(page, "Book: Group class"));
      await click(button(page.getByRole("dialog"), "Book"));
      const toast = page.getByText("You’re booked: Group class");
      await toast.waitFor();
      await settled(page);
      // It covers none of the tabs.
      await page
        .getByRole("link", { name: "Profile" })
        .last()
        .click({ trial: true, timeout: 3_000 });
      await expect(toast).toBeVisible();
      await shot(page, `first-hour-member-${width}`);
      expect(await violations(page)).toEqual([]);
    }
    process.stdout.write(`from an empty tenant to the first booking: ${clicks} clicks\n`);
    expect(clicks).toBeLessThanOrEqual(mostClicks);

    // The desk adds somebody who calls, and books them.
    {
      await using there = await visit({ width, path: "" });
      const { page } = there;
      await page.goto(await linkTo(mailTo("dana")));
      await accept(page);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.goto(new URL("/members", page.url()).href);
      await button(page, "Add member").click();
      const form = dialog(page, "Add member");
      await form.getByRole("textbox", { name: "Name" }).fill("Walter Walk");
      await button(form, "Create").click();
      await form.waitFor({ state: "hidden" });
      await toTomorrow(page);
      await page.getByRole("link", { name: /Group class/ }).click();
      await button(page, "Book a member").click();
      const booking = dialog(page, "Book a member");
      await booking
        .getByLabel(/^Member/)
        .filter({ visible: true })
        .first()
        .fill("Walter");
      await page.getByRole("option", { name: "Walter Walk" }).first().click();
      await button(booking, "Book").click();
      await booking.waitFor({ state: "hidden" });
      await page.getByRole("row", { name: /Walter Walk/ }).waitFor();
      await shot(page, `first-hour-desk-${width}`);
      expect(await violations(page)).toEqual([]);
    }

    // The coach finds who comes.
    {
      await using there = await visit({ width, path: "" });
      const { page } = there;
      await page.goto(await linkTo(mailTo("cara")));
      await accept(page);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await toTomorrow(page);
      await page.getByRole("link", { name: /Group class/ }).click();
      for (const name of ["Mia", "Walter Walk"]) {
        await page.getByRole("row", { name: new RegExp(name) }).waitFor();
      }
      await shot(page, `first-hour-coach-${width}`);
      expect(await violations(page)).toEqual([]);
    }
  });
}
