import { ErrorReason, WaitlistVerdictReason } from "@berthhq/client";
import { describe, expect, it } from "vitest";
import policy from "../../../policy/policy.csv?raw";
import { de as deDescriptions } from "./console/accounts/roles/descriptions/de";
import { fr as frDescriptions } from "./console/accounts/roles/descriptions/fr";
import { en as consoleFirst } from "./console/first-texts/en";
import { en as memberFirst } from "./member/first-texts/en";
import { en as reasons } from "./shared/reasons/texts/en";
import { en as waitlists } from "./shared/waitlists/texts/en";

const { decisions } = waitlists;

type Sections = Readonly<Record<string, object>>;

/** The texts of all folders, by path. */
const modules = import.meta.glob<Sections>("./**/texts/{en,de,fr}.ts", { eager: true });

/** The folders that have texts, such as "console/catalog". */
const folders = Object.keys(modules).flatMap((path) =>
  path.endsWith("/texts/en.ts") ? [path.slice(2, -"/texts/en.ts".length)] : [],
);

/** What a folder's index.ts says, if it has one. */
const indexes = import.meta.glob<string>("./**/texts/index.ts", {
  eager: true,
  import: "default",
  query: "?raw",
});

/** The sections of a folder in a language. */
const sections = (folder: string, language: string) =>
  (modules[`./${folder}/texts/${language}.ts`]?.[language] ?? {}) as Sections;

/** All texts by path. A function is represented by its number of parameters. */
function texts(of: object, path = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(of)) {
    const at = `${path}.${name}`;
    if (typeof value === "object") for (const [k, v] of texts(value, at)) found.set(k, v);
    else found.set(at, typeof value === "function" ? `takes ${value.length}` : value);
  }
  return found;
}

describe.each(folders)("%s", (folder) => {
  const english = texts(sections(folder, "en"));

  it.each(["de", "fr"])("has every text in %s", (language) => {
    const translated = texts(sections(folder, language));
    expect(english.size).toBeGreaterThan(1);
    expect([...translated.keys()].sort()).toEqual([...english.keys()].sort());
  });

  it.each(["de", "fr"])("is translated into %s", (language) => {
    const same = [...texts(sections(folder, language))].filter(
      ([path, text]) => text.length > 24 && !text.startsWith("takes") && english.get(path) === text,
    );
    expect(same).toEqual([]);
  });

  it("loads first, or with its pages", () => {
    const app = folder.split("/")[0];
    const loaders = indexes[`./${folder}/texts/index.ts`] ?? "firstTexts";
    const first: readonly Sections[] = [consoleFirst, memberFirst].filter(
      (_, at) => app === "shared" || app === ["console", "member"][at],
    );
    for (const name of Object.keys(sections(folder, "en"))) {
      for (const all of first) expect(name in all).toBe(loaders.includes("firstTexts"));
    }
  });
});

it.each(["console", "member"])("uses each name of a section once in %s", (app) => {
  const names = folders
    .filter((folder) => [app, "shared"].includes(folder.split("/")[0] ?? ""))
    .flatMap((folder) => Object.keys(sections(folder, "en")));
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([]);
});

const verdicts = Object.values(WaitlistVerdictReason).filter((name) => typeof name === "string");

it.each([
  ["members", decisions.you.reasons],
  ["staff", decisions.staff.reasons],
])("has a text for %s about every verdict of the waitlist", (_, reasons) => {
  const missing = verdicts.filter((name) => !(name in reasons || name in decisions.booking));
  // Who was chosen is told what they got, by other texts. Other refusals have one text.
  expect(missing).toEqual(["UNSPECIFIED", "PROMOTED", "OFFERED", "BOOKING_REFUSED"]);
});

it("names only known reasons", () => {
  const known = Object.values(ErrorReason);
  expect(Object.keys(reasons.reasons).filter((name) => !known.includes(name))).toEqual([]);
  const { you, staff, booking } = decisions;
  const told = [you.reasons, staff.reasons, booking].flatMap((all) => Object.keys(all));
  expect(told.filter((name) => !verdicts.includes(name))).toEqual([]);
});

describe.each([
  ["German", deDescriptions],
  ["French", frDescriptions],
])("the policy in %s", (_, { described: { permissions, roles } }) => {
  it.each([
    ["permission", permissions],
    ["role", roles],
  ])("describes every %s", (kind, described) => {
    const listed = [...policy.matchAll(new RegExp(`^${kind}, *([a-z_.]+),`, "gm"))];
    expect(Object.keys(described).sort()).toEqual(listed.map(([, name]) => name).sort());
  });
});
