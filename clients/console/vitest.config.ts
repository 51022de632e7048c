import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const client = fileURLToPath(new URL("../typescript/src/index.ts", import.meta.url));

export default defineConfig({
  test: {
    projects: [
      {
        resolve: {
          alias: { "@berthhq/client": client },
          dedupe: ["@bufbuild/protobuf", "@connectrpc/connect"],
        },
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/size.test.ts"],
          testTimeout: 60_000,
        },
      },
      // In Chromium, against a server that is built and started for the tests; needs Go.
      {
        test: {
          name: "browser",
          include: process.env.PICTURES ? ["test/pictures.ts"] : ["test/**/*.test.ts"],
          exclude: ["test/size.test.ts"],
          globalSetup: "../typescript/test/server.ts",
          fileParallelism: false,
          // Only failing tests reach these timeouts.
          testTimeout: 300_000,
          hookTimeout: 180_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
    ],
  },
});
