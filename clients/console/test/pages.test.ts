import { expect, type Page, test } from "@playwright/test";
import { berth, settled, studio, violations, visit, withBrowser } from "./browser";
import { pages, withId } from "./pages";
import { weigh } from "./scripts";

withBrowser();

// They are the most by far, and none changes what another one sees.
test.describe.configure({ mode: "parallel" });

/** The inputs that reach beyond the edge of their fieldset. */
const outsideOfFieldsets = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("fieldset input")]
      .filter((input) => {
        const edge = input.closest("fieldset")?.getBoundingClientRect().right ?? 0;
        return input.getBoundingClientRect().right > edge;
      })
      .map((input) => input.id),
  );

/** The most script that a first load may need, in kB. Phones load one page again and again: the week. */
const limits = new Map(
  pages
    .filter(({ path, width }) => path === "/app/" || !(width || path.startsWith("/app/")))
    .map(({ name, path }) => [name, path === "/app/" ? 210 : 310]),
);

for (const { name, path, role, tenant, there, width } of pages) {
  const most = limits.get(name);
  const little = most ? ` after at most ${most} kB of script` : "";
  test(`${name} opens without an error${little}, and has no serious accessibility violation`, async () => {
    await using visited = await visit({
      path: "",
      fresh: most !== undefined,
      ...(role && { role }),
      tenant: tenant ?? studio,
      ...(width && { width, height: 844 }),
    });
    const { page } = visited;
    const weighed = most && (await weigh(page));
    await page.goto(berth().address + (await withId(path)));
    if (most && weighed) {
      await page.getByText(there).filter({ visible: true }).first().waitFor();
      await settled(page);
      const size = await weighed();
      process.stdout.write(`${name}: ${size.toFixed(0)} kB of script\n`);
      expect(size).toBeGreaterThan(most / 2);
      expect(size).toBeLessThanOrEqual(most);
    }
    for (const [colorScheme, rules] of [
      ["light", "all"],
      ["dark", "color"],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`[data-mantine-color-scheme=${colorScheme}]`).waitFor();
      await page.getByText(there).filter({ visible: true }).first().waitFor();
      await settled(page);
      expect(await violations(page, rules), colorScheme).toEqual([]);
    }
    expect(await page.getByRole("alert").allTextContents()).toEqual([]);
    // The console scrolls within its frame, the member app as a whole.
    const [right, below] = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return [scrollWidth - innerWidth, scrollHeight - innerHeight] as const;
    });
    expect(right).toBeLessThanOrEqual(0);
    if (role && !path.startsWith("/app")) expect(below).toBeLessThanOrEqual(0);
    expect(await outsideOfFieldsets(page)).toEqual([]);
  });
}

const forms = [
  ["a new session", "/", "New session"],
  ["bulk actions", "/", "Bulk actions"],
  ["a new plan", "/plans", "New plan"],
  ["a new role", "/roles", "New role"],
  ["a new member", "/members", "Add member"],
  ["a new location", "/catalog", "New location"],
  ["a new service", "/catalog?tab=services", "New service"],
  ["a new resource", "/catalog?tab=resources", "New resource"],
  ["a new item", "/catalog?tab=items", "New item"],
  ["a new partner benefit", "/catalog?tab=benefits", "New partner benefit"],
  ["a new staff member", "/catalog?tab=staff", "Add staff"],
  ["a new workout", "/workouts", "New workout"],
] as const;

for (const [form, path, button] of forms) {
  test(`the form for ${form} has no serious accessibility violation`, async () => {
    await using there = await visit({ role: "owner", path });
    await there.page.getByRole("button", { name: button }).click();
    const dialog = there.page.getByRole("dialog");
    await dialog.getByRole("button").last().waitFor();
    await there.page.waitForFunction(() =>
      document.getAnimations().every(({ playState }) => playState !== "running"),
    );
    expect(await violations(there.page)).toEqual([]);
  });
}

test("finds pages and members with the keyboard", async () => {
  await using there = await visit({ role: "owner" });
  const { page } = there;
  await page.getByRole("link", { name: "Schedule" }).waitFor();
  await page.keyboard.press("Control+k");
  const search = page.getByPlaceholder("Search pages, people and actions…");
  await search.fill("Mona");
  await page.getByText("Mona Member").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Mona Member/ }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Roles", level: 1 }).waitFor();
});

test("closes the phone menu on navigation", async () => {
  await using there = await visit({ role: "owner", width: 390, height: 844 });
  const { page } = there;
  await page.getByRole("button", { name: "Menu" }).click();
  const menu = page.getByRole("dialog", { name: "Menu" });
  await menu.getByRole("link", { name: "Catalog" }).click();
  await page.getByRole("heading", { name: "Catalog", level: 1 }).waitFor();
  await menu.waitFor({ state: "hidden" });
});
