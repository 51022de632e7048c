import { expect, it } from "vitest";
import { stepOf } from "./bars";

it("divides a scale into at most five round parts", () => {
  expect([0, 1, 5, 6, 10, 11, 26, 51, 240].map(stepOf)).toEqual([1, 1, 1, 2, 2, 5, 10, 20, 50]);
});
