/*
 * Measures the first load of both apps in Chromium on a slow phone: `make load-times` with
 * `make run` in another terminal. Each figure is the median of some loads with an empty cache.
 */
import { chromium } from "@playwright/test";

const [address = "http://127.0.0.1:8080", loads = "5"] = process.argv.slice(2);

/** Slow 4G, in bytes per second and ms, and a processor of a quarter of the speed. */
const network = { offline: false, latency: 150, downloadThroughput: 2e5, uploadThroughput: 93_750 };
const slowdown = 4;

/** A page has loaded if its largest paint is this old, in ms. */
const quiet = 3000;

const pages = [
  ["console, sign-in", "/"],
  ["console, schedule", "/", "demo-owner"],
  ["member app, sign-in", "/app/"],
  ["member app, week", "/app/", "demo-member"],
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
const [{ id: tenant }] = await (await fetch(`${address}/dev/people.json`)).json();

/** Loads a page once. Sizes are in kB as transferred, times in ms. */
async function load(path, subject) {
  const phone = path === "/app/";
  const context = await browser.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1440, height: 900 },
    locale: "en-GB",
  });
  const person = subject && JSON.stringify({ tenant, subject });
  await context.addInitScript((remembered) => {
    if (remembered) localStorage.setItem("berth.person", remembered);
    globalThis.paints = [];
    new PerformanceObserver((list) => {
      for (const { startTime, element, size } of list.getEntries()) {
        globalThis.paints.push({ startTime, size, element: element?.outerHTML?.slice(0, 60) });
      }
    }).observe({ type: "largest-contentful-paint", buffered: true });
  }, person);
  const page = await context.newPage();
  const client = await context.newCDPSession(page);
  await client.send("Network.enable");
  await client.send("Network.emulateNetworkConditions", network);
  await client.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const types = new Map();
  const sizes = { Script: 0, Stylesheet: 0, Font: 0, all: 0 };
  client.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId);
    if (type in sizes) sizes[type] += encodedDataLength / 1000;
    sizes.all += encodedDataLength / 1000;
  });
  await page.goto(address + path);
  const settled = (least) =>
    performance.now() > (globalThis.paints.at(-1)?.startTime ?? 1e9) + least;
  await page.waitForFunction(settled, quiet, { timeout: 60_000 });
  const largest = await page.evaluate(() => globalThis.paints.at(-1));
  await context.close();
  return { paint: largest.startTime, element: largest.element, ...sizes };
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const print = (columns) =>
  process.stdout.write(
    `${columns.map((text, at) => (at ? text.padStart(8) : text.padEnd(20))).join(" ")}\n`,
  );

print(["page", "LCP, s", "all, kB", "script", "styles", "fonts"]);
for (const [name, path, subject] of pages) {
  const seen = [];
  for (let n = 0; n < Number(loads); n++) seen.push(await load(path, subject));
  const of = (key) => median(seen.map((one) => one[key]));
  const sizes = ["all", "Script", "Stylesheet", "Font"].map((key) => of(key).toFixed(0));
  print([name, (of("paint") / 1000).toFixed(2), ...sizes]);
  if (process.env.VERBOSE) process.stdout.write(`  ${seen[0].element}\n`);
}
await browser.close();
