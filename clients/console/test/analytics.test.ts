import { expect, test } from "@playwright/test";
import { visit, withBrowser } from "./browser";

withBrowser();

test("draws a bar for each day with bookings", async () => {
  await using there = await visit({ role: "owner", path: "/analytics" });
  const { page } = there;
  const all = page.locator("[style*='--share']");
  await all.first().waitFor({ state: "attached" });
  const bars = await all.evaluateAll((found) =>
    found.map((bar) => [bar.clientWidth, bar.clientHeight] as const).filter(([, high]) => high > 0),
  );
  expect(bars.length).toBeGreaterThan(0);
  for (const [wide] of bars) expect(wide).toBeGreaterThan(3);
});
