import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@playwright/test";
import { berth, settled, studio, type Visit, visit, withBrowser } from "./browser";
import { pages, withId } from "./pages";

withBrowser();

/** In kB, packed by gzip. */
const sizeOf = (script: string) =>
  statSync(fileURLToPath(new URL(`../dist${script}.gz`, import.meta.url))).size / 1000;

/** What the apps load some seconds after a page, in ms, is not part of its first load. */
const late = 2500;

/** How long nothing may be under way before a page has loaded, in ms. */
const quiet = 1000;

/** Opens a page. Resolves to the scripts that it loads until it has its data. */
async function scriptsOf({ page }: Visit, path: string, there: string): Promise<string[]> {
  await page.addInitScript((late) => {
    const { setTimeout } = window;
    window.setTimeout = ((run: () => void, ms = 0, ...values: []) =>
      ms < late ? setTimeout(run, ms, ...values) : 0) as typeof setTimeout;
  }, late);
  const scripts: string[] = [];
  const waiting = new Set<unknown>();
  let last = Date.now();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.endsWith("/WatchEvents")) return;
    if (pathname.endsWith(".js")) scripts.push(pathname);
    waiting.add(request);
  });
  const ended = (request: unknown) => {
    waiting.delete(request);
    last = Date.now();
  };
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  await page.goto(berth().address + path);
  await page.getByText(there).filter({ visible: true }).first().waitFor();
  await settled(page);
  await expect.poll(() => waiting.size === 0 && Date.now() - last > quiet).toBe(true);
  return scripts;
}

/** The most script that a first load may need, in kB. Phones load one page again and again: the week. */
const limits = pages
  .filter(({ path, width }) => path === "/app/" || !(width || path.startsWith("/app/")))
  .map((page) => ({ ...page, most: page.path === "/app/" ? 200 : 300 }));

for (const { name, path, role, tenant, there, most } of limits) {
  test(`the first load of ${name} needs at most ${most} kB of script`, async () => {
    await using visited = await visit({
      path: "",
      fresh: true,
      ...(role && { role }),
      tenant: tenant ?? studio,
    });
    const scripts = await scriptsOf(visited, await withId(path), there);
    const size = scripts.map(sizeOf).reduce((sum, one) => sum + one, 0);
    process.stdout.write(`${name}: ${size.toFixed(0)} kB of script\n`);
    expect(size).toBeGreaterThan(most / 2);
    expect(size).toBeLessThanOrEqual(most);
  });
}
