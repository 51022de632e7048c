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

/** Writes the contract's descriptors as text instead of base64, in which gzip finds hardly anything twice. */
function descriptors(): Plugin {
  return {
    name: "descriptors",
    apply: "build",
    transform(code, id) {
      if (!/\/gen\/.*_pb\.ts$/.test(id)) return null;
      const text = (base64: string) =>
        JSON.stringify(Buffer.from(base64, "base64").toString("latin1"));
      return code.replace(
        /fileDesc\("([\w+/=]+)"/g,
        (_, base64: string) => `fileDesc(/*@__PURE__*/ btoa(${text(base64)})`,
      );
    },
  };
}

/**
 * Loads the styles of a component of Mantine with its script. Without this, the styles of all
 * components would load with the first page.
 */
function componentStyles(): Plugin {
  return {
    name: "component-styles",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      // The order of layers is the same whichever file loads first.
      if (id.includes("@mantine/core/styles/")) return `@layer base, mantine;\n${code}`;
      if (id.endsWith("@mantine/core/styles.layer.css")) {
        const base = ["baseline", "default-css-variables", "global"];
        return base.map((name) => `@import "@mantine/core/styles/${name}.layer.css";\n`).join("");
      }
      const name = /@mantine\/core\/.*\/(\w+)\.module\.mjs$/.exec(id)?.[1];
      return name && `import "@mantine/core/styles/${name}.layer.css";\n${code}`;
    },
  };
}

const any =
  (...patterns: readonly RegExp[]) =>
  (id: string) =>
    patterns.some((pattern) => pattern.test(id));
const isScript = any(/\.m?[jt]sx?$/);

/** What the first script of a page needs to load the others. */
const isFirst = any(/rolldown\/runtime|preload-helper/, /\/i18n\/load\.ts/, /\/shared\/first\.ts/);

/** What opens over a page, and inputs. The member app loads them after its page. */
const isWidget = any(
  /floating-ui|remove-scroll|use-sidecar|node_modules\/use-callback|style-singleton|tslib/,
  /utils\/Floating|use-(click-outside|focus|long-press|merged-ref\/assign)|components\/(Paper|Portal)\//,
  /\/(Checkbox|CloseButton|Combobox|Drawer|FocusTrap|\w*Input|InputBase|Menu|Modal|ModalBase|NativeSelect|Overlay|Popover|ScrollArea(?!\/utils)|Select|Switch|Table|Tabs|Textarea|Tooltip)\//,
);

/** What only some pages need, although many modules use it. */
const isOfSomePages = any(
  /number-format|dayjs|use-local-storage|FloatingIndicator|use-debounced/,
  /components\/(Progress|SegmentedControl|SimpleGrid)\//,
  /@mantine\/(dates|notifications|spotlight)/,
  /src\/console\/ui\/|src\/shared\/(data-table|editing|form|ledger)/,
  /\/i18n\/(\w+\/|decisions|desk|member|notices|permissions)/,
);

/** What the first calls are made with: `shared/contract.ts`, and what it needs. */
const isContract = any(
  /@bufbuild\/protobuf|@connectrpc\/connect\/|shared\/contract/,
  /\/gen\/(google\/type|google\/protobuf\/struct)/,
  /\/gen\/berth\/v1\/(access|common|error|member|session|tenant|(member|session|tenant)_service)_pb/,
  /\/gen\/(buf\/validate|google\/rpc)/,
);
const isOther = any(/\/gen\//);

/** What the pages of the console share. */
const isFrame = any(
  /src\/console\/(shell|routes|catalog\/(data|text)|ui\/dialog)/,
  /DatesProvider|AccordionChevron|get-transition-props|hotkey|schedules\/turn/,
  /(components|styles)\/(FloatingIndicator|SegmentedControl)[/.]/,
);

/** Small modules that import nothing but React. */
const isLeaf = any(
  /shared\/routes|get-style-object|use-mantine-color-scheme|tabler.*\/icons\//,
  /(components|styles)\/Title[/.]|ScrollArea\/utils\/to-int|shared\/(brand|ui\/(frame|logo))\./,
  /hooks\/esm\/(use-(disclosure|local-storage|color-scheme|uncontrolled)|utils)/,
);

/**
 * Chunks of modules that several pages use. Many small ones would compress badly, and over HTTP/1.1
 * each costs a round trip. A group has what those before it leave.
 */
const groups = [
  { name: "first", test: isFirst, priority: 5 },
  { name: "contract", test: isContract, priority: 4 },
  {
    name: "common",
    test: (id: string) => isScript(id) && !(isWidget(id) || isOfSomePages(id) || isOther(id)),
    minShareCount: 5,
    priority: 3,
  },
  {
    name: "leaf",
    test: isLeaf,
    minShareCount: 2,
    includeDependenciesRecursively: false,
    priority: 2,
  },
  {
    name: "widgets",
    test: (id: string) => isScript(id) && isWidget(id) && !/Number/.test(id),
    minShareCount: 10,
    priority: 1,
  },
  { name: "bookings", test: any(/berth\/v1\/(booking|booking_service|waitlist)_pb/) },
  { name: "form", test: any(/shared\/(form|ui\/overlays)\.|(components|styles)\/ActionIcon[/.]/) },
  { name: "frame", test: isFrame, minShareCount: 2, includeDependenciesRecursively: false },
];

/**
 * Lets the browser load what both apps start with before their own script, which imports it, runs,
 * and how users sign in.
 */
function preloads(): Plugin {
  return {
    name: "preloads",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
        const root = chunks.find(({ facadeModuleId }) =>
          facadeModuleId?.endsWith("shared/root.tsx"),
        );
        const scripts = [root?.fileName ?? "", ...(root?.imports ?? [])];
        const styles = chunks
          .filter(({ fileName }) => scripts.includes(fileName))
          .flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
        const tag = (attrs: Record<string, string>) => ({
          tag: "link",
          attrs,
          injectTo: "head" as const,
        });
        return [
          tag({ rel: "preload", as: "fetch", crossorigin: "", href: "/console/config.json" }),
          ...styles.map((name) => tag({ rel: "stylesheet", crossorigin: "", href: `/${name}` })),
          ...scripts.map((name) =>
            tag({ rel: "modulepreload", crossorigin: "", href: `/${name}` }),
          ),
        ];
      },
    },
  };
}

export default defineConfig({
  plugins: [react(), descriptors(), componentStyles(), packed(), preloads()],
  resolve: {
    alias: { "@berthhq/client": here("../typescript/src/index.ts") },
    // The client's sources would resolve their own copies of these packages.
    dedupe: ["@bufbuild/protobuf", "@connectrpc/connect"],
  },
  build: {
    // Browsers since mid 2024, with light-dark(), nesting and container queries.
    target: ["chrome123", "firefox121", "safari17.5"],
    manifest: true,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: { console: here("index.html"), app: here("app/index.html") },
      output: {
        codeSplitting: { groups },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ["/berth.v1.", "/console/", "/dev/", "/display/"].map((path) => [path, server]),
    ),
  },
});
