import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["src/**/*.test.ts"], testTimeout: 60_000 } },
      // Against a running server, which is built and started for them; needs Go.
      {
        // Examples import the package by its name.
        resolve: { alias: { "@berthhq/client": `${import.meta.dirname}/src/index.ts` } },
        test: {
          name: "server",
          include: ["test/**/*.test.ts"],
          globalSetup: "test/server.ts",
          testTimeout: 180_000, // Go may be compiling beside it
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
