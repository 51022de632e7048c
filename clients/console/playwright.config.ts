import { defineConfig } from "@playwright/test";
import { launchOptions } from "./test/launch";

/* The tests in Chromium, against servers that are built and started for them; needs Go. */

export default defineConfig({
  testDir: "test",
  testMatch: process.env.PICTURES ? ["pictures.ts", "journey.test.ts"] : "*.test.ts",
  globalSetup: "./test/setup.ts",
  workers: 3,
  // Only failing tests reach these timeouts.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: "list",
  forbidOnly: Boolean(process.env.CI),
  // Writing traces slows down all tests. To get those of tests that fail: TRACE=1 npx playwright test
  use: { launchOptions, trace: process.env.TRACE ? "retain-on-failure" : "off" },
});
