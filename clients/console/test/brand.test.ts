import { type BrowserContext, expect, type Page, test } from "@playwright/test";
import { berth, call, salon, settled, violations, visit, withBrowser } from "./browser";

withBrowser();

const logo = "https://cdn.example.com/corner.svg";
const absent = "https://cdn.example.com/absent.svg";

/** Serves the logos locally. A preview may ask for a URL that is typed in part. */
const serveLogos = (context: BrowserContext) =>
  context.route(
    ({ protocol }) => protocol === "https:",
    (route) =>
      route.request().url() === logo
        ? route.fulfill({
            contentType: "image/svg+xml",
            body: '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="60"><rect width="240" height="60" rx="8" fill="#3b2f63"/></svg>',
          })
        : route.fulfill({ status: 404 }),
  );

/** Logos that have loaded, not only their tags. */
const logos = (page: Page) =>
  page
    .getByRole("img", { name: "Corner Salon" })
    .evaluateAll((all) =>
      (all as HTMLImageElement[])
        .filter(({ complete, naturalWidth }) => complete && naturalWidth > 0)
        .map(({ src, alt }) => `${alt}: ${src}`),
    );

const color = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { backgroundColor, color: text } = getComputedStyle(element);
      return `${text} on ${backgroundColor}`;
    });

const stored = async () => {
  const { tenant } = await call<{ tenant: { brand?: { logoUrl?: string } } }>(
    "owner",
    "TenantService/GetTenant",
    {},
    salon,
  );
  return tenant.brand?.logoUrl;
};

const yellow = "rgb(0, 0, 0) on rgb(255, 212, 0)";

test.describe("an organization's branding", () => {
  test("is edited with a preview and applied to the member app", async () => {
    await using member = await visit({ role: "member", tenant: salon, path: "", width: 390 });
    await serveLogos(member.context);
    await member.page.goto(`${berth().address}/app/`);
    await member.page.getByRole("heading", { name: /^Hello/ }).waitFor();
    expect(await logos(member.page)).toEqual([]);

    await using owner = await visit({ role: "owner", tenant: salon, path: "" });
    await serveLogos(owner.context);
    const { page } = owner;
    await page.goto(`${berth().address}/catalog?tab=organization`);
    const picture = page.getByLabel("Logo URL");
    const accent = page.getByLabel("Accent color");
    const save = page.getByRole("button", { name: "Save" });

    // Invalid input is reported at the field and not sent.
    await picture.fill("http://cdn.example.com/corner.svg");
    await page.getByText("Enter an https URL with a public host name").waitFor();
    await picture.fill("");
    await accent.fill("#ffd40");
    await page.getByText("Enter # and six hexadecimal digits").waitFor();
    expect(await accent.getAttribute("aria-invalid")).toBe("true");
    await save.click();
    await expect(page.getByText("Saved", { exact: true })).toHaveCount(0);

    // With the keyboard only.
    await picture.focus();
    await page.keyboard.type(logo);
    await page.keyboard.press("Tab");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("#FFD400");
    await expect.poll(() => logos(page)).toEqual(Array(2).fill(`Corner Salon: ${logo}`));
    expect(await color(page, "figure[data-scheme=light] .mantine-Button-root")).toBe(yellow);
    expect(await color(page, "figure[data-scheme=dark] .mantine-Button-root")).toBe(yellow);
    await settled(page);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.getByText("Saved", { exact: true }).waitFor();

    await member.page.reload(); // members get no event about this
    await expect.poll(() => logos(member.page)).toEqual([`Corner Salon: ${logo}`]);
    expect(
      await member.page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        return [
          style.getPropertyValue("--mantine-primary-color-filled"),
          style.getPropertyValue("--on-accent"),
        ];
      }),
    ).toEqual(["#ffd400", "#000000"]);
    for (const scheme of ["light", "dark"] as const) {
      await member.page.emulateMedia({ colorScheme: scheme });
      await settled(member.page);
      expect(await violations(member.page), scheme).toEqual([]);
    }

    // The image disappears: the name is shown instead.
    await page.reload(); // load the saved version, so that this edit does not conflict with it
    await expect.poll(() => picture.inputValue()).toBe(logo);
    await picture.fill(absent);
    await page.getByText("No image could be loaded").waitFor();
    await save.click();
    await expect.poll(stored).toBe(absent);
    await member.page.reload();
    await member.page
      .getByRole("link", { name: "Corner Salon" })
      .getByText("Corner Salon")
      .waitFor();
    const missing = /Failed to load resource: .*404/;
    for (const { complaints } of [owner, member]) {
      expect(complaints.filter((one) => !missing.test(one))).toEqual([]);
      complaints.length = 0;
    }

    await call(
      "owner",
      "TenantService/UpdateTenant",
      { tenant: { brand: { accentColor: "#c2552d" } }, updateMask: "brand" },
      salon,
    );
    await expect.poll(() => picture.inputValue()).toBe("");
  });
});
