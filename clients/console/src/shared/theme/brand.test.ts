import { describe, expect, it } from "vitest";
import table from "../../../../../internal/rules/brand/testdata/colors.json";
import {
  backgrounds,
  brandVariables,
  contrast,
  forShapes,
  forText,
  isLogo,
  pressedColor,
  readableOn,
  textOn,
  variantsOf,
} from "./brand";

/** Colors from all parts of the RGB cube, including its corners. */
function* everyColor(): Generator<string> {
  const steps = ["00", "12", "33", "5c", "77", "99", "b8", "d4", "ff"];
  for (const r of steps) for (const g of steps) for (const b of steps) yield `#${r}${g}${b}`;
}

describe("a tenant's color", () => {
  it.each(table)("has the same variants as on the server: $color", (row) => {
    const { color } = row;
    expect({
      color,
      on: textOn(color),
      pressed: pressedColor(color),
      onWhite: readableOn(color, "#ffffff", forText),
      onDark: readableOn(color, "#1a2127", forText),
      edgeOnWhite: readableOn(color, "#ffffff", forShapes),
      edgeOnDark: readableOn(color, "#1a2127", forShapes),
    }).toEqual(row);
  });

  it("is readable, whatever the color", () => {
    for (const color of everyColor()) {
      expect(contrast(color, textOn(color)), color).toBeGreaterThanOrEqual(forText);
      expect(contrast(pressedColor(color), textOn(color)), color).toBeGreaterThanOrEqual(forText);
      for (const scheme of ["light", "dark"] as const) {
        const { soft, text, edge } = variantsOf(color, scheme);
        for (const ground of [soft, backgrounds[scheme]]) {
          expect(contrast(text, ground), `${color} on ${ground}`).toBeGreaterThanOrEqual(forText);
        }
        expect(contrast(edge, backgrounds[scheme]), color).toBeGreaterThanOrEqual(forShapes);
      }
    }
  });

  it("falls back to Berth's own color", () => {
    expect(brandVariables("")).toEqual({});
    expect(brandVariables("green")).toEqual({});
    expect(brandVariables("#B83280")["--mantine-color-tide-filled"]).toBe("#b83280");
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
])("accepts the same logo URLs as the server: %s", (url, valid) => {
  expect(isLogo(url)).toBe(valid);
});
