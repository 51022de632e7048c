import { ErrorReason, WaitlistMode, WaitlistMove, WaitlistTrigger } from "@berthhq/client";
import { describe, expect, it } from "vitest";
import policy from "../../../../policy/policy.csv?raw";
import contract from "../../../../proto/berth/v1/waitlist.proto?raw";
import { de as deConsole } from "./console/de";
import { en as enConsole } from "./console/en";
import { fr as frConsole } from "./console/fr";
import { de } from "./de";
import { de as deStory } from "./decisions/de";
import { en as enStory } from "./decisions/en";
import { fr as frStory } from "./decisions/fr";
import { de as deDesk } from "./desk/de";
import { en as enDesk } from "./desk/en";
import { fr as frDesk } from "./desk/fr";
import { en } from "./en";
import { fr } from "./fr";
import { de as deMember } from "./member/de";
import { en as enMember } from "./member/en";
import { fr as frMember } from "./member/fr";
import { de as deNotices } from "./notices/de";
import { en as enNotices } from "./notices/en";
import { fr as frNotices } from "./notices/fr";
import { de as dePermissions } from "./permissions/de";
import { fr as frPermissions } from "./permissions/fr";

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

describe.each([
  ["German", de, en],
  ["French", fr, en],
  ["German for the console", deConsole, enConsole],
  ["French for the console", frConsole, enConsole],
  ["German for members", deMember, enMember],
  ["French for members", frMember, enMember],
  ["German about messages", deNotices, enNotices],
  ["French about messages", frNotices, enNotices],
  ["German about the waitlist", deStory, enStory],
  ["French about the waitlist", frStory, enStory],
  ["German for the front desk", deDesk, enDesk],
  ["French for the front desk", frDesk, enDesk],
])("%s", (_, language: object, source: object) => {
  it("has every text", () => {
    expect([...texts(language).keys()].sort()).toEqual([...texts(source).keys()].sort());
  });

  it("is a translation", () => {
    const english = texts(source);
    const same = [...texts(language)].filter(
      ([path, text]) => text.length > 24 && !text.startsWith("takes") && english.get(path) === text,
    );
    expect(same).toEqual([]);
  });
});

it.each([
  ["members", enStory.you.reasons],
  ["staff", enStory.staff.reasons],
])("has a text for %s about every verdict of the waitlist", (_, reasons) => {
  const missing = waitlistReasons().filter((name) => !(name in reasons));
  // Members whose entry was chosen are told what they got, by other texts.
  expect(missing.sort()).toEqual(["OFFERED", "PROMOTED"]);
});

it.each([
  ["trigger", WaitlistTrigger, enStory.triggers],
  ["move", WaitlistMove, enStory.moves],
  ["mode", WaitlistMode, enStory.staff.modes],
])("has a text for every %s of the waitlist", (_, known: object, texts) => {
  const values = Object.values(known).filter((value) => typeof value === "number");
  expect(values.length).toBeGreaterThan(1);
  expect(Object.keys(texts).map(Number).sort()).toEqual(values.sort());
});

/** The verdicts that only the waitlist has, as the contract lists them. */
function waitlistReasons(): string[] {
  const [, list = ""] = /\/\/ (PROMOTED, OFFERED,[\s\S]*?);/.exec(contract) ?? [];
  return list.match(/[A-Z_]{4,}/g) ?? [];
}

it("names only known reasons", () => {
  const known = Object.values(ErrorReason);
  const named = [...Object.keys(en.reasons), ...Object.keys(enStory.booking)];
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

describe.each([
  ["German", dePermissions],
  ["French", frPermissions],
])("the policy in %s", (_, { permissions, roles }) => {
  it.each([
    ["permission", permissions],
    ["role", roles],
  ])("describes every %s", (kind, described) => {
    const listed = [...policy.matchAll(new RegExp(`^${kind}, *([a-z_.]+),`, "gm"))];
    expect(Object.keys(described).sort()).toEqual(listed.map(([, name]) => name).sort());
  });
});

it("shows the texts of the console only there", () => {
  const sources = import.meta.glob<string>("../{member,shared}/**/*.{ts,tsx}", {
    eager: true,
    import: "default",
    query: "?raw",
  });
  const used = Object.entries(sources).flatMap(([path, source]) =>
    Object.keys(enConsole)
      .filter((name) => new RegExp(`\\bt\\.${name}\\b`).test(source))
      .map((name) => `${path}: t.${name}`),
  );
  expect(Object.keys(sources).length).toBeGreaterThan(20);
  expect(used).toEqual([]);
});
