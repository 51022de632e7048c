import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, type Page, test } from "@playwright/test";
import { berth, built, settled, violations, visit, withBrowser } from "./browser";

/* Signing in with the server itself, without an identity provider. */

withBrowser();

/** Creates a tenant, and returns the link of its first owner's invitation. */
async function invitation(name: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    built().binary,
    [
      ...["tenant", "create", "--name", name, "--time-zone", "Europe/Lisbon"],
      ...["--owner-name", "Olga Owner", "--owner-email", "olga@example.com"],
      ...["--data", berth().data, "--public-url", berth().address],
    ],
    { env: { ...process.env, DATABASE_URL: berth().database_url } },
  );
  return stdout.trim().split("\n")[1] ?? "";
}

/** The server as it is without the pages for development. */
async function likeInProduction(page: Page): Promise<void> {
  await page.route("**/console/config.json", (route) => route.fulfill({ json: { sign_in: true } }));
}

async function shot(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

for (const width of [1440, 1024, 390]) {
  test(`the link of an invitation signs the first owner in, ${width} pixels wide`, async () => {
    const link = await invitation(`Own sign-in ${width}`);
    await using there = await visit({ path: "", width });
    const { page } = there;
    await likeInProduction(page);
    await page.goto(link);
    await page.getByRole("heading", { name: `Own sign-in ${width} invites you` }).waitFor();
    await page.getByText("olga@example.com").waitFor();
    expect(await violations(page)).toEqual([]);
    await shot(page, `invite-${width}`);
    await page.getByRole("button", { name: "Accept and sign in" }).click();
    const started = page.getByRole("heading", { name: "No sessions scheduled" });
    await started.or(page.getByText("Getting started")).first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await settled(page);
    await shot(page, `in-${width}`);

    // No script can read what keeps the browser signed in, and nothing of it is stored.
    expect(await page.evaluate(() => document.cookie)).toBe("");
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }]),
    );
    expect(stored).not.toContain("eyJ");
    await page.reload();
    await page.getByText("Getting started").first().waitFor();

    // The link is good no longer, here or elsewhere.
    await page.goto(link);
    await page.getByRole("heading", { name: "This invitation is not valid" }).waitFor();
    expect(there.complaints.splice(0)).toEqual([expect.stringContaining("404 (Not Found)")]);
    await shot(page, `invalid-${width}`);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByText("Hello Olga").waitFor(); // the members' app, signed in as before
    await page.goto(berth().address);

    if (width < 900) await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: /Olga Owner/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    const out = page.getByRole("heading", { name: "Open your invitation" });
    await out.waitFor();
    await shot(page, `out-${width}`);
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await out.waitFor();
    expect(await there.context.cookies()).toEqual([]);
  });
}
