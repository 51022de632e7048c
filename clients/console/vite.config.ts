import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The API server of `npm run dev`: the one that `make run` started. */
const server = process.env.BERTH_ADDRESS ?? "http://127.0.0.1:8080";

/** Compresses each file once at build time. The server serves the compressed files as they are. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    closeBundle() {
      const folder = here("dist");
      writeFileSync(join(folder, ".gitkeep"), "");
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
        const path = join(folder, name);
        if (!statSync(path).isFile() || ![".js", ".css", ".svg"].includes(extname(path))) continue;
        const content = readFileSync(path);
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
        writeFileSync(`${path}.br`, brotliCompressSync(content, quality));
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), packed()],
  resolve: {
    alias: { "@berthhq/client": here("../typescript/src/index.ts") },
    // The client's sources would resolve their own copies of these packages.
    dedupe: ["@bufbuild/protobuf", "@connectrpc/connect"],
  },
  build: {
    // Browsers since mid 2024, with light-dark(), nesting and container queries.
    target: ["chrome123", "firefox121", "safari17.5"],
    manifest: true,
    emptyOutDir: true,
    chunkSizeWarningLimit: 700,
    rolldownOptions: { input: { console: here("index.html"), app: here("app/index.html") } },
  },
  server: {
    proxy: Object.fromEntries(
      ["/berth.v1.", "/console/", "/dev/", "/display/"].map((path) => [path, server]),
    ),
  },
});
