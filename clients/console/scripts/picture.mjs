/*
 * The borders between the parts of the browser apps: the picture of them in README, and what the sources import.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";

/**
 * A part of the picture: a folder, or a file beside folders. It has its line, and the parts that it imports.
 *
 * @typedef {{ line: number, uses: string[] }} Part
 *
 * An import of one part by another, which is made in a file.
 *
 * @typedef {{ file: string, from: string, to: string }} Import
 */

/** What both apps are made of. They may import all of it, which is not drawn. */
const shared = "shared";

const folderOf = (part) => part.split("/")[0];

/**
 * Reads the picture. Each line has one part, a few words about it, and after an arrow the parts beside it that it
 * imports. The arrow can also be on a line of its own.
 *
 * @returns {Map<string, Part>} by path, such as "console/bookings"
 */
export function readPicture(readme) {
  const [, block] = /\n## Structure\n.*?```text\n(.*?)```/s.exec(readme) ?? [];
  if (block === undefined) throw new Error("README has no picture");
  const parts = new Map();
  let folder = "";
  let last;
  for (const [line, text] of block.split("\n").entries()) {
    const [, indent, name, arrows = ""] =
      /^( *)([\w-]*)(?: .*?)??(?:(?<= )→ (.*))?$/.exec(text) ?? [];
    if (indent === undefined) throw new Error(`the picture: cannot read ${text}`);
    if (name && indent === "") folder = name;
    else if (name) {
      last = { line, uses: [] };
      if (parts.has(join(folder, name))) throw new Error(`the picture has ${name} twice`);
      parts.set(join(folder, name), last);
    }
    if (arrows) last?.uses.push(...arrows.split(/ +/).map((to) => join(folder, to)));
  }
  return parts;
}

/** The part that a file belongs to. Files beside the apps, such as tests of all texts, belong to none. */
function partOf(file) {
  const [folder, inside] = file.split("/");
  return inside === undefined ? undefined : `${folder}/${inside.replace(/\..*/, "")}`;
}

/**
 * The imports of one part by another in sources by their path, tests apart. What loads later counts, too.
 *
 * @returns {Import[]}
 */
export function findImports(sources) {
  return Object.entries(sources).flatMap(([file, source]) => {
    const from = partOf(file);
    if (from === undefined) return [];
    return [...source.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g)]
      .map(([, path]) => ({ file, from, to: partOf(join(dirname(file), path)) ?? path }))
      .filter(({ to }) => to !== from);
  });
}

/** The sources in a folder, tests apart. */
export function readSources(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

/** Where the picture and the sources differ, a sentence each. */
export function differences(picture, sources) {
  const imports = findImports(sources);
  const drawn = [...picture].flatMap(([from, { uses }]) => uses.map((to) => ({ from, to })));
  const there = new Set(Object.keys(sources).map(partOf));
  const same = (a) => (b) => a.from === b.from && a.to === b.to;
  const found = [
    ...[...there]
      .filter((part) => part !== undefined && !picture.has(part))
      .map((part) => `The picture lacks ${part}.`),
    ...[...picture.keys()]
      .filter((part) => !there.has(part))
      .map((part) => `The picture has ${part}, which is not there.`),
    ...imports
      .filter(({ from, to }) => folderOf(from) === shared || folderOf(to) !== shared)
      .filter((one) => !drawn.some(same(one)))
      .map(({ file, from, to }) => `${file} imports ${to}: there is no arrow from ${from} to it.`),
    ...drawn
      .filter((arrow) => !imports.some(same(arrow)))
      .map(({ from, to }) => `There is an arrow from ${from} to ${to}, but no such import.`),
    ...drawn
      .filter(({ from, to }) => (picture.get(to)?.line ?? 0) < picture.get(from).line)
      .map(({ from, to }) => `The picture has ${to} above ${from}, which imports it.`),
  ];
  return [...new Set(found)];
}
