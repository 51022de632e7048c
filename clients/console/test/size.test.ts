import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

const dist = fileURLToPath(new URL("../dist/", import.meta.url));

/** The scripts that an entry needs before it shows anything. */
function scripts(manifest: Record<string, Chunk>, entry: string, seen = new Set<string>()) {
  const chunk = manifest[entry];
  if (!chunk || seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const name of chunk.imports ?? []) scripts(manifest, name, seen);
  return seen;
}

it.each([
  ["index.html", 500],
  ["app/index.html", 300],
])("%s needs at most %i kB of script, packed by gzip", (entry, most) => {
  const manifest = JSON.parse(readFileSync(`${dist}.vite/manifest.json`, "utf8"));
  const files = [...scripts(manifest, entry)].filter((file) => file.endsWith(".js"));
  expect(files).not.toEqual([]);
  const size = files.reduce((sum, file) => sum + statSync(`${dist}${file}.gz`).size, 0) / 1000;
  process.stdout.write(`${entry}: ${size.toFixed(0)} kB of script\n`);
  expect(size).toBeLessThan(most);
});
