import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const manifest: Record<string, Chunk> = JSON.parse(
  readFileSync(`${dist}.vite/manifest.json`, "utf8"),
);

/** The scripts that these chunks need, their static imports included. */
function scripts(chunks: readonly string[], seen = new Set<string>()): Set<string> {
  for (const name of chunks) {
    const chunk = manifest[name];
    if (!chunk || seen.has(chunk.file)) continue;
    seen.add(chunk.file);
    scripts(chunk.imports ?? [], seen);
  }
  return seen;
}

/** In kB, packed by gzip. */
function sizeOf(chunks: readonly string[]): number {
  const files = [...scripts(chunks)].filter((file) => file.endsWith(".js"));
  return files.reduce((sum, file) => sum + statSync(`${dist}${file}.gz`).size, 0) / 1000;
}

/** What a page loads itself, in the sources of an app. */
const lazily = (chunk: string) =>
  (manifest[chunk]?.dynamicImports ?? []).filter((name) =>
    /^(_|src\/(console|member)\/)/.test(name),
  );

const root = "src/shared/root.tsx";

const consoleApp = [
  "index.html",
  root,
  "src/console/app.tsx",
  "src/i18n/en.ts",
  "src/i18n/console/en.ts",
];
const memberApp = ["app/index.html", root, "src/member/shell.tsx", "src/i18n/en.ts"];

/** Pages with tabs load the chosen one with the page. */
const tabbed = ["accounts/member/page", "catalog/page", "messages/page", "waitlists/rules"];

const print = (name: string, size: number) =>
  process.stdout.write(`${name}: ${size.toFixed(0)} kB of script\n`);

describe("the first load", () => {
  const pages = lazily("src/console/app.tsx").flatMap((page) =>
    tabbed.some((name) => page === `src/console/${name}.tsx`)
      ? lazily(page).map((tab) => [page, tab])
      : [[page]],
  );

  it.each(pages)("of the console at %s %s needs at most 300 kB of script", (...page) => {
    const size = sizeOf([...consoleApp, ...page]);
    print(page.join(" "), size);
    expect(size).toBeLessThan(300);
  });

  it("of the member app, with its week, needs at most 200 kB of script", () => {
    for (const page of lazily("src/member/shell.tsx")) print(page, sizeOf([...memberApp, page]));
    expect(sizeOf(memberApp)).toBeLessThan(200); // the week is part of its shell
  });

  it("has a page in each app", () => {
    expect(pages.length).toBeGreaterThan(15);
    expect(lazily("src/member/shell.tsx").length).toBeGreaterThan(6);
  });
});
