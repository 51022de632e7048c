import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, type Page, test } from "@playwright/test";
import { berth, built, settled, violations, visit, withBrowser } from "./browser";

/* Signing in with the server itself, without an identity provider. */

withBrowser();

/** Creates a tenant, and returns the link of its first owner's invitation. */
async function invitation(name: string, address = "olga@example.com"): Promise<string> {
  const { stdout } = await promisify(execFile)(
    built().binary,
    [
      ...["tenant", "create", "--name", name, "--time-zone", "Europe/Lisbon"],
      ...["--owner-name", "Olga Owner", "--owner-email", address],
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

/** The code of the newest mail to an address. It is not the one that is known. */
async function codeTo(address: string, known = ""): Promise<string> {
  let code = "";
  await expect(async () => {
    const answer = await fetch(`${berth().address}/dev/mails.json`);
    const mails: { to: string; text: string }[] = await answer.json();
    const text = mails.find(({ to }) => to === address)?.text ?? "";
    code = /\b\d{6,}\b|\b\d{3} \d{3}\b/.exec(text)?.[0].replaceAll(" ", "") ?? "";
    expect(code).not.toBe("");
    expect(code).not.toBe(known);
  }).toPass();
  return code;
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

    const tab = await there.context.newPage();
    await likeInProduction(tab);
    await tab.goto(`${berth().address}/members`);
    await tab.getByRole("heading", { name: "Members", level: 1 }).waitFor();
    if (width < 900) await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: /Olga Owner/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    const out = page.getByRole("heading", { name: "Sign in by mail" });
    await out.waitFor();
    await tab.getByRole("heading", { name: "Sign in by mail" }).waitFor(); // in each tab
    await tab.close();
    await shot(page, `out-${width}`);
    expect(await violations(page)).toEqual([]);
    await page.reload();
    await out.waitFor();
    // What is left says only that the browser is known.
    const left = (await there.context.cookies()).map(({ name }) => name);
    expect(left).toEqual(["berth_browser"]);
  });
}

for (const width of [1440, 1024, 390]) {
  test(`a code that a mail brings signs in, ${width} pixels wide`, async () => {
    const address = `olga.${width}@example.com`;
    const link = await invitation(`Codes ${width}`, address);
    await using there = await visit({ path: "", width });
    const { page } = there;
    await likeInProduction(page);
    // Owners sign in with a code once they have accepted their invitation.
    await page.goto(link);
    await page.getByRole("button", { name: "Accept and sign in" }).click();
    await page.getByText("Getting started").first().waitFor();
    await there.context.clearCookies();
    await page.goto(`${berth().address}/members`);
    await page.getByRole("textbox", { name: "Email address" }).fill(address);
    await shot(page, `address-${width}`);
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Send code" }).click();
    const code = page.getByRole("textbox", { name: "Code" });
    await expect(code).toBeFocused();
    await expect(code).toHaveAttribute("autocomplete", "one-time-code");
    await expect(code).toHaveAttribute("inputmode", "numeric");
    await expect(page.getByRole("button", { name: "Send another code in" })).toBeDisabled();
    const right = await codeTo(address);
    const wrong = right.replace(/\d$/, (last) => String((Number(last) + 1) % 10));

    const signIn = page.getByRole("button", { name: "Sign in", exact: true });
    await code.fill(wrong);
    await signIn.click();
    await page.getByText("This code is wrong or too old.").waitFor();
    await shot(page, `wrong-${width}`);
    expect(await violations(page)).toEqual([]);
    await code.fill(`${right.slice(0, 3)} ${right.slice(3)}`); // as mails show it
    await signIn.click();
    await page.getByRole("heading", { name: "Members", level: 1 }).waitFor(); // the page that was asked for
    await page.reload();
    await page.getByRole("heading", { name: "Members", level: 1 }).waitFor();

    // Ended elsewhere, it goes on with a new code, over the page.
    await there.context.clearCookies();
    await page.route("**/berth.v1.*/*", (route) =>
      route.fulfill({ status: 401, json: { code: "unauthenticated", reason: "TOKEN_EXPIRED" } }),
    );
    const dialog = page.getByRole("dialog", { name: "Please sign in again" });
    await dialog.waitFor();
    await page.unroute("**/berth.v1.*/*");
    await dialog.getByRole("textbox", { name: "Email address" }).fill(address);
    await dialog.getByRole("button", { name: "Send code" }).click();
    await dialog.getByRole("textbox", { name: "Code" }).fill(await codeTo(address, right));
    await shot(page, `again-${width}`);
    await dialog.getByRole("button", { name: "Sign in", exact: true }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("heading", { name: "Members", level: 1 }).waitFor();
  });
}

test("nobody learns from the form who is a member", async () => {
  await using there = await visit({ path: "" });
  const { page } = there;
  await likeInProduction(page);
  await page.goto(`${berth().address}/app/`);
  await page.getByRole("textbox", { name: "Email address" }).fill("nobody@example.com");
  await page.getByRole("button", { name: "Send code" }).click();
  await page.getByText("If nobody@example.com is a member’s address").waitFor();
  await page.getByRole("textbox", { name: "Code" }).fill("000000");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("This code is wrong or too old.").waitFor();
  await page.getByRole("button", { name: "Use another address" }).click();
  await expect(page.getByRole("textbox", { name: "Email address" })).toHaveValue(
    "nobody@example.com",
  );
});

test("the form says what to do when the server refuses or does not answer", async () => {
  await using there = await visit({ path: "" });
  const { page } = there;
  await likeInProduction(page);
  await page.goto(`${berth().address}/app/`);
  await page.getByRole("textbox", { name: "Email address" }).fill("mia@example.com");
  for (const [status, says] of [
    [429, "There were too many attempts."],
    [503, "The server could not be reached."],
    [400, "This is no email address."],
  ] as const) {
    await page.route("**/auth/code", (route) => route.fulfill({ status, json: {} }));
    await page.getByRole("button", { name: "Send code" }).click();
    await page.getByRole("alert").getByText(says).waitFor();
    await page.unroute("**/auth/code");
  }
});

test("members see where they are signed in, and end it elsewhere", async () => {
  const link = await invitation("Sign-ins");
  await using there = await visit({ path: "" });
  const { page } = there;
  await likeInProduction(page);
  await page.goto(link);
  await page.getByRole("button", { name: "Accept and sign in" }).click();
  await page.getByRole("button", { name: /Olga Owner/ }).click();
  await page.getByRole("menuitem", { name: "My profile" }).click();
  await page.getByRole("tab", { name: "Sign-ins" }).click();
  await page.getByText("This browser").waitFor();
  await page.getByText("by invitation").waitFor();
  await expect(page.getByRole("button", { name: "Sign out everywhere else" })).toHaveCount(0);
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 860 });
    expect(await page.evaluate(() => document.body.scrollWidth <= innerWidth)).toBe(true);
    await shot(page, `sign-ins-${width}`);
  }
  expect(await violations(page)).toEqual([]);

  const people = await fetch(`${berth().address}/dev/people.json?query=Sign-ins`);
  const { tenants }: { tenants: { id: string; name: string; people: { subject: string }[] }[] } =
    await people.json();
  const { id = "", people: [olga] = [] } = tenants.find(({ name }) => name === "Sign-ins") ?? {};
  const person = { tenant: id, subject: olga?.subject ?? "" };
  await using elsewhere = await visit({ person, path: "/app/me", width: 390 });
  const phone = elsewhere.page;
  await phone.getByRole("heading", { name: "Where you are signed in" }).waitFor();
  await phone.getByText("by invitation").waitFor();
  await phone.getByRole("button", { name: "Sign out everywhere else" }).scrollIntoViewIfNeeded();
  await shot(phone, "sign-ins-app");
  await phone.getByRole("button", { name: "Sign out everywhere else" }).click();
  const question = phone.getByRole("dialog");
  await question.getByRole("button", { name: "Sign out everywhere else" }).click();
  await phone.getByText("Not signed in with Berth.").waitFor();
  expect(await violations(phone)).toEqual([]);

  await page.reload();
  await page.getByRole("heading", { name: "Sign in by mail" }).waitFor();
});

for (const width of [1440, 390]) {
  test(`a passkey signs in, ${width} pixels wide`, async () => {
    const address = `pass.${width}@example.com`;
    const link = new URL(await invitation(`Passkeys ${width}`, address));
    const named = `http://localhost:${new URL(berth().address).port}`; // an address has no passkeys
    await using there = await visit({ path: "", width });
    const { page } = there;
    await likeInProduction(page);
    const devices = await there.context.newCDPSession(page);
    await devices.send("WebAuthn.enable");
    await devices.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(named + link.pathname);
    await page.getByRole("button", { name: "Accept and sign in" }).click();
    await page.getByText("Getting started").first().waitFor();

    await page.goto(`${named}/app/me`);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Passkey added").waitFor();
    await settled(page);
    expect(await violations(page)).toEqual([]);
    await shot(page, `passkey-${width}`);
    // The device has one already.
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("This device has a passkey here already.").waitFor();

    await there.context.clearCookies();
    await page.goto(`${named}/app/`);
    const signIn = page.getByRole("button", { name: "Sign in with a passkey" });
    await signIn.waitFor();
    await shot(page, `with-passkey-${width}`);
    expect(await violations(page)).toEqual([]);
    await signIn.click();
    await page.getByText("Hello Olga").waitFor();

    await page.goto(`${named}/app/me`);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Passkey removed").waitFor();
    await there.context.clearCookies();
    await page.goto(`${named}/app/`);
    await signIn.click();
    await page.getByText("This passkey did not work here.").waitFor();
    await shot(page, `removed-${width}`);
    there.complaints.splice(0); // the refusal, in the console
  });
}
