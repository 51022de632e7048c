import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import * as client from "./index.js";

it("exports everything that is generated from the contract", async () => {
  const folder = new URL("./gen/berth/v1/", import.meta.url);
  const forgotten: string[] = [];
  for (const file of await readdir(folder)) {
    const names = Object.keys(await import(new URL(file, folder).href));
    if (names.some((name) => !(name in client))) forgotten.push(file);
  }
  expect(forgotten).toEqual([]);
});
