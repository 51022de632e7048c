import type { Tenant } from "@berthhq/client";
import { luminance, toRgba } from "@mantine/core";
import { useLayoutEffect } from "react";

/*
 * A tenant's brand color. The server styles emails and pages the same way: its tests and these read
 * one table.
 */

const black = "#000000";
const white = "#ffffff";

/** Contrast ratios that WCAG 2.2 requires for text, and for meaningful shapes. */
export const forText = 4.5;
export const forShapes = 3;

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/**
 * Valid logo URLs, as the inputs and the server accept them: any browser could load the image.
 * Characters that end a URL in HTML are written as escapes, because inputs parse brackets in their
 * own way.
 */
export const logoPattern =
  "https://([a-zA-Z0-9\\-]+\\.)+[a-zA-Z][a-zA-Z0-9\\-]*(:[0-9]+)?" +
  "([\\x2f\\x3f][\\x21\\x24-\\x26\\x28-\\x3b\\x3d\\x3f-\\x5a\\x5f\\x61-\\x7a\\x7e]*)?";

/** The maximum length of a logo URL, in characters. */
export const maxLogoLength = 500;

const logoRegExp = new RegExp(`^${logoPattern}$`);

export const isLogo = (text: string): boolean =>
  text.length <= maxLogoLength && logoRegExp.test(text);

/** The WCAG contrast ratio, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [la, lb] = [luminance(a), luminance(b)];
  return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
}

/** The text color on a background: white if it is readable, otherwise black. */
export const textOn = (color: string): string =>
  contrast(color, white) >= forText ? white : black;

/** Mixes in a percentage of another color. */
export function mix(color: string, other: string, percent: number): string {
  const [from, to] = [toRgba(color), toRgba(other)];
  const parts = (["r", "g", "b"] as const).map((part) =>
    Math.floor((from[part] * (100 - percent) + to[part] * percent + 50) / 100),
  );
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The color of a pressed button: a bit further from its text color. */
export const pressedColor = (color: string): string =>
  textOn(color) === white ? mix(color, black, 15) : mix(color, white, 25);

/**
 * The color itself if its contrast with the ground is at least the given ratio (up to forText),
 * otherwise the nearest tint that has it.
 */
export function readableOn(color: string, ground: string, least: number): string {
  const away = textOn(ground);
  for (let percent = 0; percent < 100; percent += 5) {
    const tint = mix(color, away, percent);
    if (contrast(tint, ground) >= least) return tint;
  }
  return away;
}

/** The background of each color scheme that is closest to the colors on it. See tokens.css. */
export const backgrounds = { light: "#f1f3f4", dark: "#1a2127" } as const;

/** A color's variants in one scheme. */
export function variantsOf(color: string, scheme: "light" | "dark") {
  const ground = backgrounds[scheme];
  const soft = scheme === "light" ? mix(white, color, 10) : mix("#12181c", color, 18);
  return {
    /** A background for text. */
    soft,
    /** Text, on the page and on the soft background. */
    text: readableOn(readableOn(color, soft, forText), ground, forText),
    edge: readableOn(color, ground, forShapes),
  };
}

/** CSS variables that apply a tenant's color to an element. Empty without a color. */
export function brandVariables(accent: string): Readonly<Record<`--${string}`, string>> {
  if (!isColor(accent)) return {};
  const color = accent.toLowerCase();
  const [light, dark] = [variantsOf(color, "light"), variantsOf(color, "dark")];
  const text = `light-dark(${light.text}, ${dark.text})`;
  const soft = `light-dark(${light.soft}, ${dark.soft})`;
  return {
    "--accent": text,
    "--accent-soft": soft,
    "--accent-edge": `light-dark(${light.edge}, ${dark.edge})`,
    "--on-accent": textOn(color),
    "--chosen": color,
    "--on-chosen": textOn(color),
    "--focus": text,
    "--mantine-color-anchor": text,
    "--mantine-color-tide-filled": color,
    "--mantine-color-tide-filled-hover": pressedColor(color),
    "--mantine-color-tide-light": soft,
    "--mantine-color-tide-light-hover": soft,
    "--mantine-color-tide-light-color": text,
    "--mantine-color-tide-outline": text,
    "--mantine-color-tide-text": text,
  };
}

/** Applies a tenant's color to the page while it is mounted. */
export function useBrand({ brand }: Tenant): void {
  const accent = brand?.accentColor ?? "";
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const variables = Object.entries(brandVariables(accent));
    for (const [name, value] of variables) style.setProperty(name, value);
    return () => {
      for (const [name] of variables) style.removeProperty(name);
    };
  }, [accent]);
}
