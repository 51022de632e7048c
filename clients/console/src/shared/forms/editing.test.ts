import { expect, it } from "vitest";
import { changes, rebase } from "./editing";

const base = { title: "Yin", capacity: 12, tags: ["a"] };

it("lists changed fields", () => {
  expect(changes(base, { ...base, tags: ["a"] })).toEqual([]);
  expect(changes(base, { ...base, capacity: 14, tags: ["a", "b"] })).toEqual(["capacity", "tags"]);
});

it("keeps the user's edits and takes over fields that only others changed", () => {
  const typed = { ...base, capacity: 14 };
  const saved = { ...base, capacity: 10, title: "Yin Yoga" };
  expect(rebase(base, typed, saved)).toEqual({
    values: { title: "Yin Yoga", capacity: 14, tags: ["a"] },
    theirs: { title: "Yin Yoga", capacity: 10 },
  });
});
