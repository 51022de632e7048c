import { expect, test } from "@playwright/test";
import { call, day, hour, makeSession, visit, withBrowser } from "./browser";

withBrowser();

test.describe("roles", () => {
  test("apply in the other browser as soon as they change", async () => {
    await using owner = await visit({ role: "owner", path: "/roles" });
    const { page } = owner;
    // A custom role, created in the console.
    await page.getByRole("button", { name: "New role" }).click();
    const form = page.getByRole("dialog", { name: "New role" });
    await form.getByRole("textbox", { name: "Name" }).fill("Front desk");
    await form.getByRole("checkbox", { name: /Read who has booked a session/ }).check();
    await form.getByRole("checkbox", { name: /Find members and read their profiles/ }).check();
    await form.getByRole("checkbox", { name: /Read the audit log/ }).check();
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByRole("columnheader", { name: /Front desk/ }).waitFor();

    const { member } = await call<{ member: { id: string } }>("member", "MemberService/GetMe", {});
    await page.goto(new URL(`/members/${member.id}?tab=roles`, page.url()).href);
    await page
      .getByRole("combobox", { name: "Assign role" })
      .or(page.getByPlaceholder("Assign role"))
      .first()
      .click();
    await page.getByRole("option", { name: "Front desk" }).click();
    await page.getByRole("button", { name: "Assign role" }).click();
    await page.getByRole("button", { name: "Remove Front desk" }).waitFor();

    await using other = await visit({ role: "member", path: "/audit" });
    await other.page.getByRole("heading", { name: "Audit log" }).waitFor();
    await other.page.getByRole("cell", { name: "role.created" }).first().waitFor();

    // The permission is removed from the role.
    await page.goto(new URL("/roles", page.url()).href);
    await page.getByRole("button", { name: "Edit Front desk" }).click();
    const edit = page.getByRole("dialog", { name: "Edit Front desk" });
    await edit.getByRole("checkbox", { name: /Read the audit log/ }).uncheck();
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.waitFor({ state: "hidden" });
    await other.page.getByRole("heading", { name: "You don’t have access" }).waitFor();
    await expect(other.page.getByRole("link", { name: "Audit log" })).toHaveCount(0);
    await expect(other.page.getByRole("link", { name: "Members" })).toHaveCount(1);

    await call("owner", "AccessService/RevokeRole", { memberId: member.id, role: "front_desk" });
  });

  test("a coach who leaves is replaced, in one session and in all others", async () => {
    const add = async (name: string) => {
      const { member } = await call<{ member: { id: string } }>(
        "owner",
        "MemberService/CreateMember",
        { member: { name } },
      );
      await call("owner", "AccessService/AssignRole", { memberId: member.id, role: "coach" });
      return member.id;
    };
    const leaving = await add("Lena Leaving");
    const staying = await add("Stan Staying");
    for (const [index, title] of ["Dawn", "Midday", "Dusk"].entries())
      await makeSession(title, 20 * day + index * 3 * hour, { coachId: leaving });
    await makeSession("Elsewhere", 20 * day, { coachId: staying });

    await using owner = await visit({ role: "owner", path: `/members/${leaving}?tab=roles` });
    const { page } = owner;
    await page.getByRole("button", { name: "Remove Coach" }).click();
    const table = page.getByRole("table", { name: "Sessions they lead" });
    await expect(table.getByRole("row")).toHaveCount(3);
    // Who has a session then is not offered.
    await table.getByRole("combobox", { name: "Who leads Dawn" }).click();
    const free = page.getByRole("option");
    await expect(free.first()).toBeVisible();
    await expect(free.filter({ hasText: "Stan Staying" })).toHaveCount(0);
    await page.keyboard.press("Escape");
    await table.getByRole("combobox", { name: "Who leads Midday" }).click();
    await free.filter({ hasText: "Stan Staying" }).click();
    await expect(table.getByRole("row")).toHaveCount(2);

    const all = page.getByRole("combobox", { name: "A substitute for all" });
    await all.fill("stan");
    await page.getByRole("option", { name: "Stan Staying (free for 1 of 2)" }).click();
    await page.getByRole("button", { name: "Replace in 1" }).click();
    await expect(table.getByRole("row")).toHaveCount(1);
    await expect(table).toContainText("Dawn");

    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Deactivate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Deactivate" }).click();
    await expect(page.getByText("Members do not see the name")).toBeVisible();
    await expect(table).toContainText("Dawn");
  });

  test("ownership moves to a member who confirms it", async () => {
    const { member } = await call<{ member: { id: string } }>("member", "MemberService/GetMe", {});
    const { member: me } = await call<{ member: { id: string } }>(
      "owner",
      "MemberService/GetMe",
      {},
    );
    await using owner = await visit({ role: "owner", path: `/members/${member.id}?tab=roles` });
    const { page } = owner;
    await page.getByRole("button", { name: "Transfer ownership" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Transfer ownership" }).click();
    await page.getByText(/can confirm the transfer of ownership until/).waitFor();

    // The admin sees neither this nor a way to edit owners.
    await using admin = await visit({ role: "admin", path: `/members/${me.id}?tab=roles` });
    await admin.page.getByText("Runs the organization and may do everything.").waitFor();
    await expect(admin.page.getByRole("button", { name: "Remove Owner" })).toHaveCount(0);
    await expect(admin.page.getByRole("button", { name: "Edit" })).toHaveCount(0);

    await using receiver = await visit({ role: "member", path: "/app/me" });
    await receiver.page.getByRole("button", { name: "Become the owner" }).click();
    await receiver.page.getByText("You are an owner now").waitFor();
    await page.getByText("Mona Member").first().waitFor();
    await expect(page.getByRole("button", { name: "Transfer ownership" })).toHaveCount(0);

    const { transfer } = await call<{ transfer: { id: string } }>(
      "member",
      "AccessService/TransferOwnership",
      { memberId: me.id },
    );
    await call("owner", "AccessService/ConfirmOwnershipTransfer", { transferId: transfer.id });
    await call("owner", "AccessService/RevokeRole", { memberId: me.id, role: "admin" });
    await call("owner", "AccessService/RevokeRole", { memberId: member.id, role: "admin" });
  });

  test("can be checked: who has a permission, and which role gives it", async () => {
    await using there = await visit({ role: "owner", path: "/roles?tab=ask" });
    const { page } = there;
    await page
      .getByLabel(/^Member/)
      .filter({ visible: true })
      .first()
      .fill("Cleo");
    await page.getByRole("option", { name: "Cleo Coach" }).click();
    await page
      .getByLabel(/^Permission/)
      .filter({ visible: true })
      .first()
      .fill("session.cancel");
    await page.getByRole("option", { name: /session\.cancel/ }).click();
    await page.getByText("No, Cleo Coach may not do this.").waitFor();
    await page.getByText("Owner, Admin").waitFor();
  });
});

test("shows a service account's key once", async () => {
  await using there = await visit({ role: "owner", path: "/service-accounts" });
  const { page } = there;
  await page.getByRole("button", { name: "New service account" }).click();
  const form = page.getByRole("dialog", { name: "New service account" });
  await form.getByRole("textbox", { name: "Name" }).fill("Turnstile");
  await form.getByRole("button", { name: "Create" }).click();
  const shown = page.getByRole("dialog", { name: "Key: Turnstile" });
  const key = await shown.locator("code").textContent();
  expect(key?.length).toBeGreaterThan(20);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("heading", { name: /Turnstile/ }).waitFor();
  await expect(page.getByText(key ?? "", { exact: true })).toHaveCount(0);
});

test("inherits policies and shows their source", async () => {
  await using there = await visit({ role: "owner", path: "/policies" });
  const { page } = there;
  await page.getByRole("button", { name: "Override: Hold time" }).click();
  await page.getByLabel("Hold time", { exact: true }).fill("15");
  await page.getByText("1 unsaved change").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 unsaved change").waitFor({ state: "hidden" });
  const { locations } = await call<{ locations: { id: string }[] }>(
    "owner",
    "CatalogService/ListLocations",
    {},
  );
  await page.goto(new URL(`/policies?for=location:${locations[0]?.id}`, page.url()).href);
  const row = page.locator("[data-setting]", { hasText: "How long a seat is held" });
  await row.getByText("15 min").waitFor();
  await row.getByText("Organization").waitFor();
});
