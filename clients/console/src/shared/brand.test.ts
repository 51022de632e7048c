import { describe, expect, it } from "vitest";
import table from "../../../../internal/rules/brand/testdata/colors.json";
import {
  against,
  contrast,
  forShapes,
  forText,
  grounds,
  isLogo,
  look,
  on,
  pressed,
  shades,
} from "./brand";

/** Colors from all parts of the RGB cube, including its corners. */
function* everyColor(): Generator<string> {
  const steps = ["00", "12", "33", "5c", "77", "99", "b8", "d4", "ff"];
  for (const r of steps) for (const g of steps) for (const b of steps) yield `#${r}${g}${b}`;
}

describe("a tenant's colour", () => {
  it.each(table)("is painted as the server paints it: $color", (row) => {
    const { color } = row;
    expect({
      color,
      on: on(color),
      pressed: pressed(color),
      onWhite: against(color, "#ffffff", forText),
      onDark: against(color, "#1a2127", forText),
      edgeOnWhite: against(color, "#ffffff", forShapes),
      edgeOnDark: against(color, "#1a2127", forShapes),
    }).toEqual(row);
  });

  it("can be read, whatever it is", () => {
    for (const color of everyColor()) {
      expect(contrast(color, on(color)), color).toBeGreaterThanOrEqual(forText);
      expect(contrast(pressed(color), on(color)), color).toBeGreaterThanOrEqual(forText);
      for (const scheme of ["light", "dark"] as const) {
        const { soft, text, edge } = shades(color, scheme);
        for (const ground of [soft, grounds[scheme]]) {
          expect(contrast(text, ground), `${color} on ${ground}`).toBeGreaterThanOrEqual(forText);
        }
        expect(contrast(edge, grounds[scheme]), color).toBeGreaterThanOrEqual(forShapes);
      }
    }
  });

  it("leaves Berth's own where there is none", () => {
    expect(look("")).toEqual({});
    expect(look("green")).toEqual({});
    expect(look("#B83280")["--mantine-color-tide-filled"]).toBe("#b83280");
  });
});

it.each([
  ["https://cdn.example.com/a/logo.svg?v=2&w=200", true],
  ["https://logo.example", true],
  ["https://cdn.example.com:8443/my%20logo.png", true],
  [`https://a.example/${"x".repeat(482)}`, true],
  [`https://a.example/${"x".repeat(483)}`, false],
  ["http://cdn.example.com/logo.png", false],
  ["https://localhost/logo.png", false],
  ["https://192.168.0.1/logo.png", false],
  ["https://[::1]/logo.png", false],
  ["https://me:secret@cdn.example.com/logo.png", false],
  ["https://cdn.example.com/logo.svg#mark", false],
  ["https://cdn.example.com/my logo.png", false],
  ['https://cdn.example.com/"x', false],
  ["javascript:alert(1)", false],
  ["/logo.png", false],
])("takes addresses as the server does: %s", (address, taken) => {
  expect(isLogo(address)).toBe(taken);
});
