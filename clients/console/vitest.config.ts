import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const client = fileURLToPath(new URL("../typescript/src/index.ts", import.meta.url));

export default defineConfig({
  resolve: {
    alias: { "@berthhq/client": client },
    dedupe: ["@bufbuild/protobuf", "@connectrpc/connect"],
  },
  test: {
    setupFiles: "temporal-polyfill/global", // Node.js has no Temporal
    include: ["src/**/*.test.ts", "scripts/*.test.mjs"],
    testTimeout: 60_000,
  },
});
