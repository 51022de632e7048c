import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

/** The minified bundle of this code. */
async function bundle(code: string) {
  const entry = "\0entry";
  const build = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
  });
  const { output } = await build.generate({ minify: true, codeSplitting: false });
  await build.close();
  return output[0];
}

const index = JSON.stringify(new URL("./index.ts", import.meta.url).pathname);

it.each([
  ["the whole client", `export { createBerthClient, berthError, all } from ${index};`, 80],
  [
    "one service and berthError",
    `import { berthError, SessionService } from ${index};
     import { createClient } from "@connectrpc/connect";
     export { berthError, createClient, SessionService };`,
    35,
  ],
])("%s does not need Node.js and stays small", async (_, code, kilobytes) => {
  const { code: made, imports } = await bundle(code);
  expect(imports).toEqual([]);
  const size = gzipSync(made).length / 1000;
  expect(size).toBeLessThan(kilobytes);
});
