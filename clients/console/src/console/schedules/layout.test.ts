import { describe, expect, it } from "vitest";
import { hoursOf, place, snap } from "./layout";

const spans = (...list: [number, number][]) => list.map(([from, to]) => ({ from, to }));

describe("layout", () => {
  it.each([
    ["one alone", spans([60, 120]), [[0, 1]]],
    [
      "one after the other",
      spans([60, 120], [120, 180]),
      [
        [0, 1],
        [0, 1],
      ],
    ],
    [
      "two at once",
      spans([60, 120], [90, 150]),
      [
        [0, 2],
        [1, 2],
      ],
    ],
    [
      "a chain shares its width",
      spans([0, 60], [30, 90], [70, 120]),
      [
        [0, 2],
        [1, 2],
        [0, 2],
      ],
    ],
    [
      "the longest first",
      spans([60, 90], [60, 120]),
      [
        [1, 2],
        [0, 2],
      ],
    ],
    [
      "in any order",
      spans([200, 260], [0, 60]),
      [
        [0, 1],
        [0, 1],
      ],
    ],
  ])("places %s", (_, given, want) => {
    expect(place(given).map(({ lane, lanes }) => [lane, lanes])).toEqual(want);
  });

  it("never places overlapping spans on top of each other", () => {
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return seed % n;
    };
    for (let round = 0; round < 200; round++) {
      const given = Array.from({ length: 1 + random(30) }, () => {
        const from = random(1300);
        return { from, to: from + 5 + random(180) };
      });
      const placed = place(given);
      given.forEach((a, i) => {
        given.slice(i + 1).forEach((b, j) => {
          const other = placed[i + 1 + j];
          if (a.from < b.to && b.from < a.to) expect(placed[i]?.lane).not.toBe(other?.lane);
        });
        expect(placed[i]?.lane).toBeLessThan(placed[i]?.lanes ?? 0);
      });
    }
  });
});

it("shows the usual hours and any beyond them", () => {
  expect(hoursOf([])).toEqual({ from: 7, to: 21 });
  expect(hoursOf(spans([330, 400], [1300, 1435]))).toEqual({ from: 5, to: 24 });
});

it("rounds to quarter hours", () => {
  expect([0, 7, 8, 22, 23].map((minute) => snap(minute))).toEqual([0, 0, 15, 15, 30]);
});
