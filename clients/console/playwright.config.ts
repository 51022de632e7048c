import { defineConfig } from "@playwright/test";
import { launchOptions } from "./test/launch";

/* The tests in Chromium, against servers that are built and started for them; needs Go. */

/** They take longest, so they start first: otherwise one worker ends alone with them. */
const longest = ["pages.test.ts", "size.test.ts"];

export default defineConfig({
  testDir: "test",
  projects: process.env.PICTURES
    ? [{ name: "pictures", testMatch: ["pictures.ts", "journey.test.ts"] }]
    : [
        { name: "longest", testMatch: longest },
        { name: "others", testMatch: "*.test.ts", testIgnore: longest },
      ],
  globalSetup: "./test/setup.ts",
  workers: 3,
  // Only failing tests reach these timeouts.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: "list",
  forbidOnly: Boolean(process.env.CI),
  // Pictures of each step would take more time than anything else in a trace.
  use: { launchOptions, trace: { mode: "retain-on-failure", screenshots: false } },
});
