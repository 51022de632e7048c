import { expect, type Page, test } from "@playwright/test";
import { berth, newTenant, settled, violations, visit, withBrowser } from "./browser";

/* Inviting people in the console. */

withBrowser();

const dialog = (page: Page, title: string) => page.getByRole("dialog", { name: title });

async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

/** How many mails with an invitation an address got. */
async function mailsTo(address: string): Promise<number> {
  const answer = await fetch(`${berth().address}/dev/mails.json`);
  const mails: { to: string; text: string }[] = await answer.json();
  return mails.filter(({ to, text }) => to === address && text.includes("/invite/")).length;
}

for (const width of [1440, 1024, 390]) {
  test(`people are invited, again, and not any more, ${width} pixels wide`, async () => {
    const owner = await newTenant(`Invitations ${width}`);
    const address = `cara.${width}@example.com`;
    await using there = await visit({ person: owner, path: "/members", width });
    const { page } = there;
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const form = dialog(page, "Invite");
    await form.getByRole("textbox", { name: "Name" }).fill("Cara Coach");
    await form.getByRole("textbox", { name: "Email" }).fill(address);
    await form.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: "Coach" }).click();
    await settled(page);
    expect(await violations(page)).toEqual([]);
    await shot(page, `invite-form-${width}`);
    await form.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByText(`Invitation sent to ${address}`).waitFor();
    await form.waitFor({ state: "hidden" });

    await page.getByRole("tab", { name: "Invitations" }).click();
    const row = page.getByRole("row").filter({ hasText: address });
    await row.getByText("Sent", { exact: true }).waitFor();
    await settled(page);
    expect(await violations(page)).toEqual([]);
    await shot(page, `invitations-${width}`);
    await row.getByRole("button", { name: "Send again" }).click();
    await expect(row).toHaveCount(2);
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Invitation revoked").waitFor();
    await expect(row.getByText("Revoked", { exact: true })).toHaveCount(2);
    await expect(row.getByRole("button")).toHaveCount(0);

    // Members, several at once; an address is not given twice.
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await form.getByText("Members", { exact: true }).click();
    await form.getByRole("combobox", { name: "Member" }).click();
    await page.getByRole("option", { name: "Cara Coach" }).click();
    await form.getByRole("button", { name: "Remove: Cara Coach" }).waitFor();
    await shot(page, `invite-members-${width}`);
    await form.getByRole("button", { name: "Invite", exact: true }).click();
    await expect(row.getByText("Sent", { exact: true })).toHaveCount(1);
    expect(await mailsTo(address)).toBeGreaterThan(0);
  });
}

test("who is added as staff is invited, unless unticked", async () => {
  const owner = await newTenant("Staff are invited");
  await using there = await visit({ person: owner, path: "/setup" });
  const { page } = there;
  for (const [name, invited] of [
    ["Cleo", true],
    ["Dana", false],
  ] as const) {
    await page.goto(new URL("/setup", page.url()).href);
    await page.goto(new URL("/catalog?tab=staff", page.url()).href);
    await page.getByRole("button", { name: "Add staff" }).first().click();
    const form = dialog(page, "Add staff");
    await form.getByText("New person").click();
    await form.getByRole("textbox", { name: "Name" }).fill(name);
    await form.getByRole("textbox", { name: "Email" }).fill(`${name.toLowerCase()}@staff.example`);
    const box = form.getByRole("checkbox", { name: "Send an invitation by mail" });
    await expect(box).toBeChecked();
    if (!invited) await box.uncheck();
    await form.getByRole("button", { name: "Add" }).click();
    await form.waitFor({ state: "hidden" });
    await page.getByRole("link", { name }).waitFor();
    expect(await mailsTo(`${name.toLowerCase()}@staff.example`)).toBe(invited ? 1 : 0);
  }
});
