import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts"], testTimeout: 60_000 } },
      // Against a server that is built and started for the tests; needs Go.
      {
        // The examples import the package by name.
        resolve: { alias: { "@berthhq/client": `${import.meta.dirname}/src/index.ts` } },
        test: {
          name: "server",
          include: ["test/**/*.test.ts"],
          globalSetup: "test/setup.ts",
          testTimeout: 180_000, // Go may be compiling at the same time
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
