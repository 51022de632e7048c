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

/** A file's descriptor without its options (field 8), which name packages in other languages. */
function withoutOptions(file: Buffer): Buffer {
  const kept: Buffer[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = file[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < file.length) {
    const start = at;
    const tag = varint();
    const length = varint(); // or the value, of a number
    if ((tag & 7) === 2) at += length;
    if (tag >> 3 !== 8) kept.push(file.subarray(start, at));
  }
  return Buffer.concat(kept);
}

/** Writes the contract's descriptors as text instead of base64, in which gzip finds hardly anything twice. */
function descriptors(): Plugin {
  return {
    name: "descriptors",
    apply: "build",
    transform(code, id) {
      if (!/\/gen\/.*_pb\.ts$/.test(id)) return null;
      const text = (base64: string) =>
        JSON.stringify(withoutOptions(Buffer.from(base64, "base64")).toString("latin1"));
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

/**
 * Marks what React Router defines at its top level as free of side effects, so that what the apps do
 * not use is left out: forms, scroll restoration, error pages of its framework.
 */
function pureRouter(): Plugin {
  return {
    name: "pure-router",
    apply: "build",
    transform(code, id) {
      if (!id.includes("/react-router/")) return null;
      return code
        .replace(/^\w+\.displayName = .*;$/gm, "")
        .replace(/= (React\d*\.forwardRef\()/g, "= /*@__PURE__*/ $1")
        .replace(
          /= (class extends React\d*\.Component \{\n[\s\S]*?\n\});/g,
          "= /*@__PURE__*/ (() => $1)();",
        );
    },
  };
}

const any =
  (...patterns: readonly RegExp[]) =>
  (id: string) =>
    patterns.some((pattern) => pattern.test(id));
const isScript = any(/\.m?[jt]sx?$/);

/** What the first script of a page needs to load the others. */
const isFirst = any(
  /rolldown\/runtime|preload-helper/,
  /shared\/i18n\/(count|load)/,
  /shared\/start\/expect-user/,
);

/** Inputs without a dropdown. The member app's first page needs them, if there are several locations. */
const isInput = any(
  /components\/(Input|InputBase|NativeSelect|TextInput|CloseButton)\//,
  /ComboboxChevron/,
);

/** What opens over a page, and other inputs. The member app loads them after its first page. */
const isWidget = any(
  /floating-ui|remove-scroll|use-sidecar|node_modules\/use-callback|style-singleton|tslib/,
  /utils\/Floating|use-(click-outside|focus|long-press|merged-ref\/assign)|components\/(Paper|Portal)\//,
  /\/(Checkbox|Combobox|Drawer|FocusTrap|\w*Input|Menu|Modal|ModalBase|Overlay|Popover|ScrollArea(?!\/utils)|Select|Switch|Table|Tabs|Textarea|Tooltip)\//,
);

/** What the pages of the console share. */
const isFrame = any(
  /src\/console\/(shell|routes|catalog\/data|ui\/(dialog|roles\.|sessions|text))/,
  /src\/console\/(accounts|bookings\/analytics|schedules|settings|waitlists)\/texts\/index/,
  /DatesProvider|AccordionChevron|get-transition-props|hotkey|schedules\/turn/,
  /(components|styles)\/(Anchor|Container|FloatingIndicator|SegmentedControl)[/.]/,
  /ScrollArea\/utils|create-scoped-keydown|close-on-escape|InputsGroup/,
  /hooks\/esm\/use-(input-state|mutation-observer|shallow-effect)\//,
  /src\/shared\/(format\/(money|numbers)|state\/use-last|ui\/avatar)/,
);

/** What only some pages need, although many modules use it. */
const isOfSomePages = any(
  /number-format|dayjs|use-local-storage|use-debounced|[iI]nfiniteQuery/,
  /components\/(ActionIcon|Progress|SimpleGrid)\//,
  /@mantine\/(dates|notifications\/(?!esm\/notifications\.store)|spotlight)/,
  /src\/console\/|src\/shared\/(accounts\/ledger|api\/pages|waitlists\/)/,
  /src\/shared\/(forms\/(editing|form)|ui\/(data-table|overlays))/,
  /(?<!src\/member)\/texts\//,
);

/** What the first calls are made with: `shared/start/contract.ts`, and what it needs. */
const isContract = any(
  /@bufbuild\/protobuf|@connectrpc\/connect\/(?!.*(async-iterable|promise-client))|shared\/start\/contract/,
  /\/gen\/(google\/type|google\/protobuf\/struct)/,
  /\/gen\/berth\/v1\/(access|common|error|member|session|tenant|(member|session|tenant)_service)_pb/,
  /\/gen\/(buf\/validate|google\/rpc)/,
);
const isOther = any(/\/gen\//);

/** Small modules that import nothing but React. The member app's first page needs most of them. */
const isLeaf = any(
  /shared\/(routing|theme\/brand|ui\/(data-table\.module|frame|logo|time)\.)|get-style-object/,
  /(components|styles)\/(Group|Title)[/.]|ScrollArea\/utils\/to-int|use-mantine-color-scheme/,
  /hooks\/esm\/(use-(disclosure|local-storage|color-scheme)|utils)/,
  /icons\/Icon(CalendarWeek|MapOff|Ticket|UserCircle|Wallet)\./,
);

/** Icons. Those of errors are in "common". */
const isIcon = any(/tabler.*\/icons\/Icon(?!AlertTriangle|CircleDashed|Lock\.|PlugConnectedX)/);

const isCommon = (id: string) =>
  isScript(id) &&
  ![isInput, isWidget, isFrame, isOfSomePages, isOther, isIcon].some((isPart) => isPart(id));

/** Chunks of texts, one for each language. */
const textsOf = (name: string, folders: RegExp) =>
  ["en", "de", "fr"].map((language) => ({
    name: `${name}-${language}`,
    test: (id: string) => folders.test(id) && id.endsWith(`/${language}.ts`),
    priority: 6,
  }));

/**
 * Chunks of modules that several pages use. Many small ones would compress badly, and over HTTP/1.1
 * each costs a round trip. A group has what those before it leave.
 */
const groups = [
  ...textsOf("first", /src\/(member\/(first-)?texts|shared\/(reasons\/)?texts)\//),
  ...textsOf("member", /src\/member\/\w+\/texts\//),
  { name: "member", test: any(/src\/member\/\w+\/texts\/index/) },
  { name: "first", test: isFirst, priority: 5 },
  { name: "contract", test: isContract, priority: 4 },
  { name: "common", test: isCommon, minShareCount: 5, priority: 3 },
  {
    name: "leaf",
    test: isLeaf,
    minShareCount: 2,
    includeDependenciesRecursively: false,
    priority: 2,
  },
  { name: "inputs", test: (id: string) => isScript(id) && isInput(id), priority: 1.5 },
  {
    name: "widgets",
    test: (id: string) => isScript(id) && isWidget(id) && !/Number/.test(id),
    minShareCount: 10,
    priority: 1,
  },
  { name: "bookings", test: any(/berth\/v1\/(booking|booking_service|waitlist)_pb/) },
  {
    name: "form",
    test: any(/shared\/(forms\/form|ui\/overlays)\.|(components|styles)\/ActionIcon[/.]/),
  },
  { name: "icons", test: isIcon, minShareCount: 2 },
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
          facadeModuleId?.endsWith("shared/root/root.tsx"),
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
  plugins: [react(), descriptors(), componentStyles(), pureRouter(), packed(), preloads()],
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
