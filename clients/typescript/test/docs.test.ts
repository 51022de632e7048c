import { readdir, readFile } from "node:fs/promises";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { club, newSession } from "./berth.js";

const { address } = inject("berth");

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Runs a program of `examples` as its own process would, until it ends; gives what it printed. */
async function run(program: () => Promise<unknown>, ...args: string[]): Promise<string[]> {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...words) => void printed.push(words.join(" ")));
  const { argv } = process;
  process.argv = ["node", "example.js", ...args];
  try {
    await program();
  } finally {
    process.argv = argv;
  }
  return printed;
}

describe("the code on a page", () => {
  it.each(["README.md", "../../docs/browser.md"])("is that of the examples: %s", async (page) => {
    const root = new URL("../", import.meta.url);
    const names = await readdir(new URL("examples/", root));
    const examples = await Promise.all(
      names.map((name) => readFile(new URL(`examples/${name}`, root), "utf8")),
    );
    const text = await readFile(new URL(page, root), "utf8");
    const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = ""]) => code);
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) {
      expect(
        examples.some((example) => example.includes(block)),
        block,
      ).toBe(true);
    }
  });
});

describe("an example", () => {
  it("books the first place of the week", async () => {
    const sessionId = await newSession(4);
    expect(sessionId).not.toBe("");
    const program = () => import("../examples/book.js");
    const printed = await run(program, address, club.tokens.member);
    expect(printed).toEqual([expect.stringMatching(/^.+: (booking|number) \S+$/)]);
  });
});
