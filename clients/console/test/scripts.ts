import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, type Page } from "@playwright/test";

/** In kB, packed by gzip. */
const sizeOf = (script: string) =>
  statSync(fileURLToPath(new URL(`../dist${script}.gz`, import.meta.url))).size / 1000;

/** What the apps load some seconds after a page, in ms, is not part of its first load. */
const late = 2500;

/** How long nothing may be under way before a page has loaded, in ms. */
const quiet = 1000;

/**
 * Watches a page before it is opened for the first time. The result is called once it shows its data, and resolves to
 * the size of the scripts that it has loaded by then, in kB.
 */
export async function weigh(page: Page): Promise<() => Promise<number>> {
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
  return async () => {
    await expect.poll(() => waiting.size === 0 && Date.now() - last > quiet).toBe(true);
    return scripts.map(sizeOf).reduce((sum, one) => sum + one, 0);
  };
}
