import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import {
  call,
  club,
  day,
  newTenant,
  type Role,
  settled,
  studio,
  visit,
  withBrowser,
} from "./browser";

/* Takes the pictures of the docs: `make pictures`. */

withBrowser();

interface Listed {
  readonly id: string;
  readonly startTime: string;
  readonly waitlistLength?: number;
}

async function busiest(): Promise<string> {
  const within = {
    start: new Date().toISOString(),
    end: new Date(Date.now() + 5 * day).toISOString(),
  };
  const { sessions } = await call<{ sessions: Listed[] }>("owner", "SessionService/ListSessions", {
    filter: { startsWithin: within },
    pageSize: 200,
  });
  const [first] = sessions.sort((a, b) => (b.waitlistLength ?? 0) - (a.waitlistLength ?? 0));
  return first?.id ?? "";
}

interface Picture {
  readonly name: string;
  readonly path: () => Promise<string> | string;
  readonly role: Role;
  /** Selector that is visible once the page has loaded. */
  readonly there: string;
  readonly tenant?: number;
  readonly scheme?: "light" | "dark";
  readonly telephone?: boolean;
}

const pictures: readonly Picture[] = [
  {
    name: "schedule",
    there: 'a[href^="/sessions/"]',
    path: () => `/?date=${new Date(Date.now() + 7 * day).toISOString().slice(0, 10)}`,
    role: "owner",
  },
  {
    name: "session",
    there: "text=Waitlist",
    path: async () => `/sessions/${await busiest()}`,
    role: "coach",
    scheme: "dark",
  },
  { name: "attendance", there: "[role=img]", path: () => "/analytics", role: "owner" },
  {
    name: "tee-sheet",
    there: "article",
    path: () => `/tee-sheet?date=${new Date(Date.now() + day).toISOString().slice(0, 10)}`,
    role: "owner",
    tenant: club,
  },
  {
    name: "team-week",
    there: "td a",
    path: () => `/?by=coach&date=${new Date(Date.now() + 7 * day).toISOString().slice(0, 10)}`,
    role: "owner",
  },
  {
    name: "member-week",
    there: "article",
    path: () => `/app/?date=${new Date(Date.now() + day).toISOString().slice(0, 10)}`,
    role: "member",
    telephone: true,
  },
];

for (const { name, path, role, there: sign, tenant, scheme, telephone } of pictures) {
  test(name, async () => {
    await using there = await visit({
      path: await path(),
      role,
      tenant: tenant ?? studio,
      scheme: scheme ?? "light",
      ...(telephone ? { width: 390, height: 780 } : { width: 1280, height: 800 }),
    });
    await there.page.locator(sign).filter({ visible: true }).last().waitFor();
    await settled(there.page);
    await there.page.evaluate(() => document.fonts.ready);
    await there.page.screenshot({
      path: fileURLToPath(new URL(`../../../docs/images/${name}.png`, import.meta.url)),
      animations: "disabled",
    });
  });
}

test("first-hour", async () => {
  const person = await newTenant("Riverside Pilates");
  await using there = await visit({ person, path: "/setup", width: 1280, height: 1000 });
  const { page } = there;
  await page.getByRole("button", { name: "Use this template" }).click();
  await page.getByRole("button", { name: "I lead sessions myself" }).click();
  await page.getByText("3 of 7 steps done").waitFor();
  await page.getByRole("alert").last().waitFor({ state: "hidden" });
  await page.mouse.move(0, 0);
  await page.getByRole("main").evaluate((main) => main.scrollTo(0, 0));
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({
    path: fileURLToPath(new URL("../../../docs/images/first-hour.png", import.meta.url)),
    animations: "disabled",
  });
});

test("import", async () => {
  await using there = await visit({ role: "owner", path: "/imports", width: 1280, height: 800 });
  const { page } = there;
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({
      name: "spring.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(
        "service,location,date,start,duration_minutes,capacity\nVinyasa,Harbour,2027-03-29,18:00,60,14\nYin,Harbour,2027-03-29,25:00,75,12\nYin,,2027-03-30,19:00,75,many\nVinyasa,Harbour,2027-03-31,18:00,60,14\n",
      ),
    });
  await page.getByRole("columnheader", { name: "Problem" }).waitFor();
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({
    path: fileURLToPath(new URL("../../../docs/images/import.png", import.meta.url)),
    animations: "disabled",
  });
});

test("import-members", async () => {
  const person = await newTenant("Riverside Pilates");
  await using there = await visit({
    person,
    path: "/imports?what=members",
    width: 1280,
    height: 1250,
  });
  const { page } = there;
  await page.locator("input[type=file]").setInputFiles({
    name: "clients.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(
      "Client ID,First Name,Last Name,Email,Mobile Phone,Last Visit\n" +
        "200401,Maeve,Kilbride,maeve.k@example.com,912 345 678,03/02/2026\n" +
        "200402,Oisín,Ó Dálaigh,oisin(at)example.com,+353 86 555 0101,21/11/2025\n" +
        "200403,Tara,Kilbride,maeve.k@example.com,,29/06/2026\n",
    ),
  });
  await page.getByRole("columnheader", { name: "Problem" }).waitFor();
  await settled(page);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({
    path: fileURLToPath(new URL("../../../docs/images/import-members.png", import.meta.url)),
    animations: "disabled",
  });
});
