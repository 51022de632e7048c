import { readFile } from "node:fs/promises";
import { expect, test } from "@playwright/test";
import { call, day, violations, visit, withBrowser } from "./browser";

withBrowser();

const file = (name: string, text: string) => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(text),
});

test("reports problems by row and column, and imports the fixed file", async () => {
  const on = new Date(Date.now() + 50 * day).toISOString().slice(0, 10);
  const good = `service,location,date,start,duration_minutes,title,status\nVinyasa,Harbour,${on},18:00,60,Sheet One,published\nYin,Harbour,${on},20:00,60,Sheet Two,published\n`;
  await using there = await visit({ role: "owner", path: "/imports" });
  const { page } = there;
  const input = page.locator("input[type=file]").first();
  await page.getByRole("heading", { name: "Import", level: 1 }).waitFor();
  await input.setInputFiles(file("week.csv", good.replace("18:00", "25:00").replace("Yin", "")));
  await page.getByRole("heading", { name: "2 of 2 rows to fix" }).waitFor();
  await expect(page.getByRole("textbox", { name: "start in row 2" })).toHaveValue("25:00");
  await expect(page.getByRole("textbox", { name: "service in row 3" })).toHaveValue("");
  await expect(page.getByRole("button", { name: /^Import \d/ })).toHaveCount(0);
  expect(await violations(page)).toEqual([]);

  await input.setInputFiles(file("week.csv", good));
  await page.getByText("2 sessions ready to import").waitFor();
  const within = {
    start: `${on}T00:00:00Z`,
    end: new Date(Date.parse(on) + 2 * day).toISOString(),
  };
  const titles = async () => {
    const { sessions = [] } = await call<{ sessions?: { title: string }[] }>(
      "owner",
      "SessionService/ListSessions",
      { filter: { startsWithin: within }, pageSize: 100 },
    );
    return sessions.map(({ title }) => title).filter((title) => title.startsWith("Sheet"));
  };
  expect(await titles()).toEqual([]);
  await page.getByRole("button", { name: "Import 2 sessions" }).click();
  await page.getByText("2 sessions imported").waitFor();
  expect(await titles()).toEqual(["Sheet One", "Sheet Two"]);

  // What became of imports can be seen after a reload, too.
  await page.reload();
  await page.getByRole("heading", { name: "Recent imports" }).waitFor();
  await page.getByRole("row", { name: /Imported 2 of 2 rows/ }).waitFor();
  await page.getByRole("button", { name: "Show 2 rows to fix" }).first().click();
  await page.getByRole("row", { name: /2 start/ }).waitFor();
});

test("imports members, and reports those that already exist", async () => {
  const rows = Array.from({ length: 40 }, (_, n) => `Row ${n + 1},row${n + 1}@import.example`);
  const csv = `name;email\n${rows.join("\n").replaceAll(",", ";")}\n`;
  await using there = await visit({ role: "owner", path: "/members" });
  const { page } = there;
  await page.getByRole("main").getByRole("link", { name: "Import" }).click();
  await page.getByRole("tab", { name: "Members", selected: true }).waitFor();
  const input = page.getByRole("tabpanel", { name: "Members" }).locator("input[type=file]");
  await input.setInputFiles(file("members.csv", csv));
  await page.getByRole("button", { name: "Import 40 members" }).click();
  await page.getByText("40 members imported").waitFor();
  await input.setInputFiles(file("members.csv", csv));
  await page.getByRole("heading", { name: "40 of 40 rows to fix" }).waitFor();
  await expect(page.getByRole("textbox", { name: "email in row 2", exact: true })).toHaveValue(
    "row1@import.example",
  );

  // After a reload, too.
  await page.reload();
  const recent = page.getByRole("tabpanel", { name: "Members" });
  await recent.getByRole("row", { name: /Imported 40 of 40 rows/ }).waitFor();
  await recent.getByRole("button", { name: "Show 40 rows to fix" }).first().click();
  await recent.getByRole("row", { name: /^2 email – Another member/ }).waitFor();
  await page.goto(new URL("/members", page.url()).href);
  await page.getByLabel("Search by name, email or phone").fill("row7@import");
  await page.getByRole("link", { name: "Row 7", exact: true }).waitFor();
});

test("maps the columns of a file of another program", async () => {
  const csv =
    "Client ID,Who,Mobile Phone,Last Visit\n7,Maeve Ó Dálaigh,+353 86 555 0101,21/11/2025\n8,Tara Ó Dálaigh,,\n";
  await using there = await visit({ role: "owner", path: "/imports?what=members" });
  const { page } = there;
  const input = page.getByRole("tabpanel", { name: "Members" }).locator("input[type=file]");
  await input.setInputFiles(file("export.csv", csv));
  await page.getByText("3 columns left out").waitFor();
  await page.getByRole("row", { name: /^1 name – The column is missing/ }).waitFor();
  const column = (name: string) => page.getByRole("combobox", { name, exact: true });
  await expect(column("Mobile Phone")).toHaveValue("Phone");
  await expect(column("Client ID")).toHaveValue("");
  await column("Who").click();
  await page.getByRole("option", { name: "Name", exact: true }).click();
  await page.getByText("2 columns left out").waitFor();
  await page.getByText("2 members ready to import").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Import 2 members" }).click();
  await page.getByText("2 members imported").waitFor();
  const { members = [] } = await call<{ members?: { phone: string }[] }>(
    "owner",
    "MemberService/ListMembers",
    { filter: { query: "Maeve Ó Dálaigh" } },
  );
  expect(members.map(({ phone }) => phone)).toEqual(["+353865550101"]);
});

test("reads national numbers, turned names and families as the other program meant them", async () => {
  const csv =
    'Name,Email,Mobile\n"Ó Broin, Nora",nora@family.example,0170 1234567\n"Ó Broin, Eoin",Nora@family.example,\n';
  await using there = await visit({ role: "owner", path: "/imports?what=members" });
  const { page } = there;
  const input = page.getByRole("tabpanel", { name: "Members" }).locator("input[type=file]");
  await input.setInputFiles(file("family.csv", csv));
  await page.getByText("2 members ready to import").waitFor();
  await page.getByRole("heading", { name: "Notes on 2 rows" }).waitFor();
  await page.getByRole("row", { name: /^2 name Ó Broin, Nora .*read as Nora Ó Broin/ }).waitFor();
  await page.getByRole("row", { name: /^3 email .*Row 2 has the same email/ }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Import 2 members" }).click();
  await page.getByText("2 members imported").waitFor();
  const { members = [] } = await call<{ members?: Record<string, string>[] }>(
    "owner",
    "MemberService/ListMembers",
    { filter: { query: "Ó Broin" } },
  );
  expect(members.map(({ name, email, phone }) => [name, email, phone])).toEqual([
    ["Eoin Ó Broin", undefined, undefined],
    ["Nora Ó Broin", "nora@family.example", "+491701234567"],
  ]);
});

test("mends rows, leaves others out and gives them as a file", async () => {
  const csv =
    "Name,Email,Visits\nAva Left,ava@left.example,1\nBo Left,bo@,2\nCy Left,cy at left,3\n";
  await using there = await visit({ role: "owner", path: "/imports?what=members" });
  const { page } = there;
  const input = page.getByRole("tabpanel", { name: "Members" }).locator("input[type=file]");
  await input.setInputFiles(file("visits.csv", csv));
  await page.getByText("1 member ready to import").waitFor();
  await page.getByText("2 rows with problems are left out unless you mend them below.").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("textbox", { name: "email in row 3" }).fill("bo@left.example");
  await page.getByRole("button", { name: "Check 1 changed cell" }).click();
  await page.getByText("2 members ready to import").waitFor();
  await page.getByRole("button", { name: "Import 2 members" }).click();
  await page.getByText("2 members imported").waitFor();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download these rows" }).click();
  const rows = await readFile(await (await saved).path(), "utf8");
  expect(rows.split(/\r?\n/)[0]).toBe("\uFEFFName,Email,Visits,Problem");
  expect(rows).toContain("\nCy Left,cy at left,3,");
  expect(rows).not.toContain("Bo Left");
  const { members = [] } = await call<{ members?: { name: string }[] }>(
    "owner",
    "MemberService/ListMembers",
    { filter: { query: "left.example" } },
  );
  expect(members.map(({ name }) => name)).toEqual(["Ava Left", "Bo Left"]);
});

test("shows what became of an import if the response to it is lost", async () => {
  await using there = await visit({ role: "owner", path: "/imports?what=members" });
  const { page, complaints } = there;
  const input = page.getByRole("tabpanel", { name: "Members" }).locator("input[type=file]");
  await input.setInputFiles(file("one.csv", "name,email\nLost Answer,lost@import.example\n"));
  await page.getByText("1 member ready to import").waitFor();
  await page.route("**/berth.v1.MemberService/ImportMembers", async (route) => {
    await route.fetch();
    await route.abort("connectionreset");
  });
  await page.getByRole("button", { name: "Import 1 member" }).click();
  await page.getByText("We don’t know whether the import succeeded").waitFor();
  await page.unrouteAll();
  await page.reload();
  await page.getByRole("row", { name: /Imported 1 of 1 row/ }).waitFor();
  await input.setInputFiles(file("one.csv", "name,email\nLost Answer,lost@import.example\n"));
  await page.getByRole("textbox", { name: "email in row 2", exact: true }).waitFor();
  complaints.splice(
    0,
    complaints.length,
    ...complaints.filter((text) => !text.includes("ERR_CONNECTION")),
  );
});

test("takes over the plans of members with the credits that are left", async () => {
  await call("owner", "CreditService/CreatePlan", {
    plan: { name: "Ten from before", kind: "PLAN_KIND_CREDITS", credits: 10 },
  });
  const { member } = await call<{ member: { id: string } }>("owner", "MemberService/CreateMember", {
    member: { name: "Pia Plan", email: "pia@plan.example" },
  });
  const csv =
    "Client,Email,Membership,Visits remaining,Expiration date\n" +
    "Pia Plan,pia@plan.example,Ten from before,7,31.12.2029\nNo One,no@plan.example,Ten from before,2,\n";
  await using there = await visit({ role: "owner", path: "/imports?what=plans" });
  const { page } = there;
  const panel = page.getByRole("tabpanel", { name: "Plans" });
  await panel.locator("input[type=file]").setInputFiles(file("plans.csv", csv));
  await page.getByText("1 plan ready to import").waitFor();
  await page.getByText("7 credits in the file, 7 in Berth").waitFor();
  await page.getByRole("row", { name: /^3 name No One No active member/ }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Import 1 plan" }).click();
  await page.getByText("1 plan imported").waitFor();
  await page.getByText("7 credits in the file, 7 in Berth").waitFor();
  const { subscriptions } = await call<{ subscriptions: { balance: number }[] }>(
    "owner",
    "CreditService/GetBalance",
    { memberId: member.id },
  );
  expect(subscriptions.map(({ balance }) => balance)).toEqual([7]);
  await panel.getByRole("row", { name: /Imported 2 of 2 rows/ }).waitFor();
});

test("takes over future bookings, never one seat too many", async () => {
  const on = new Date(Date.now() + 51 * day).toISOString().slice(0, 10);
  const sessions = `service,location,date,start,duration_minutes,capacity,title,status\nVinyasa,Harbour,${on},06:15,60,2,Early,published\n`;
  const { fileImport } = await call<{ fileImport: { id: string } }>(
    "owner",
    "SessionService/ImportSessions",
    { csv: Buffer.from(sessions).toString("base64") },
  );
  await expect
    .poll(async () => {
      const read = await call<{ fileImport: { status: string } }>(
        "owner",
        "ImportService/GetImport",
        { importId: fileImport.id },
      );
      return read.fileImport.status;
    })
    .toBe("IMPORT_STATUS_SUCCEEDED");
  for (const name of ["Bea Booked", "Cai Booked"]) {
    await call("owner", "MemberService/CreateMember", { member: { name } });
  }
  const rows = ["Bea Booked,", "Cai Booked,", ",Gil Guest"].map(
    (who) => `Vinyasa,${on},06:15,${who}\n`,
  );
  await using there = await visit({ role: "owner", path: "/imports?what=bookings" });
  const { page } = there;
  const panel = page.getByRole("tabpanel", { name: "Bookings" });
  await panel
    .locator("input[type=file]")
    .setInputFiles(file("bookings.csv", `Class,Date,Start time,Client,Guest\n${rows.join("")}`));
  await page.getByText("2 bookings ready to import").waitFor();
  await page.getByText("2 seats in the file, 2 in Berth").waitFor();
  await page
    .getByRole("row", { name: /^4 seats .*Too few seats are left in the session: 0/ })
    .waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Import 2 bookings" }).click();
  await page.getByText("2 bookings imported").waitFor();
  const found = await call<{ sessions: { seatsTaken: number }[] }>(
    "owner",
    "SessionService/ListSessions",
    {
      filter: {
        startsWithin: {
          start: `${on}T00:00:00Z`,
          end: new Date(Date.parse(on) + day).toISOString(),
        },
      },
      pageSize: 100,
    },
  );
  const early = found.sessions.filter((one) => "title" in one && one.title === "Early");
  expect(early.map(({ seatsTaken }) => seatsTaken)).toEqual([2]);
});

test("undoes an import of members, after a question that says what happens", async () => {
  const csv = "name,email\nUna Done,una@undo.example\nUli Done,\n";
  await using there = await visit({ role: "owner", path: "/imports?what=members" });
  const { page } = there;
  const panel = page.getByRole("tabpanel", { name: "Members" });
  await panel.locator("input[type=file]").setInputFiles(file("wrong.csv", csv));
  await page.getByRole("button", { name: "Import 2 members" }).click();
  await page.getByText("2 members imported").waitFor();
  const row = panel.getByRole("row", { name: /Imported.*2 of 2 rows/ }).first();
  await expect(row).toContainText("Can be undone until");
  await row.getByRole("button", { name: "Undo" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo this import?" });
  await expect(dialog).toContainText("2 members will become inactive");
  await expect(dialog).toContainText("Can be undone until");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Undo" }).click();
  await panel
    .getByRole("row", { name: /Undone.*2 of 2 rows/ })
    .first()
    .waitFor();
  const found = async (query: string) => {
    const { members = [] } = await call<{ members?: { email?: string; status: string }[] }>(
      "owner",
      "MemberService/ListMembers",
      { filter: { query } },
    );
    return members;
  };
  expect(await found("una@undo.example")).toEqual([]);
  expect((await found("Una Done")).map(({ status }) => status)).toEqual(["MEMBER_STATUS_INACTIVE"]);

  // The file can be imported again. Who is in use by then is named.
  await panel.locator("input[type=file]").setInputFiles(file("mended.csv", csv));
  await page.getByRole("button", { name: "Import 2 members" }).click();
  await page.getByText("2 members imported").waitFor();
  const [una] = (
    await call<{ members: { id: string }[] }>("owner", "MemberService/ListMembers", {
      filter: { query: "una@undo.example" },
    })
  ).members;
  await call("owner", "AccessService/AssignRole", { memberId: una?.id, role: "coach" });
  await panel
    .getByRole("row", { name: /Imported.*2 of 2 rows/ })
    .first()
    .getByRole("button", { name: "Undo" })
    .click();
  await dialog.getByRole("button", { name: "Undo" }).click();
  await page.getByText(/1 of what was imported is in use.*Una Done/).waitFor();
});

test("invites the members of an import who have an email", async () => {
  const people = Array.from({ length: 120 }, (_, n) => `Guest ${n},guest${n}@invite.example`);
  const csv = `name,email\n${people.join("\n")}\nNo Address,\n`;
  await using there = await visit({ role: "owner", path: "/imports?what=members" });
  const { page } = there;
  const panel = page.getByRole("tabpanel", { name: "Members" });
  await panel.locator("input[type=file]").setInputFiles(file("guests.csv", csv));
  await page.getByRole("button", { name: "Import 121 members" }).click();
  await page.getByText("121 members imported").waitFor();
  await panel.getByText("1 member without an email cannot be invited.").waitFor();
  await panel.getByRole("button", { name: "Invite 120 people" }).click();
  expect(await violations(page)).toEqual([]);
  await page
    .getByRole("dialog", { name: "Invite the 120 people with an email?" })
    .getByRole("button", { name: "Invite 120 people" })
    .click();
  await panel.getByText("120 people invited.").waitFor();
  await expect(panel.getByRole("button", { name: /^Invite/ })).toHaveCount(0);
});
