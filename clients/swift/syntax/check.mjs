// Parses every Swift file of the package, and fails where one does not parse. It does not know types: that
// is the compiler's work, by `swift test` on a Mac.
import { readdir, readFile } from "node:fs/promises";
import Parser from "tree-sitter";
import Swift from "tree-sitter-swift";

const root = new URL("../", import.meta.url);
const parser = new Parser();
parser.setLanguage(Swift);

/** Places in a tree that are no Swift, as line:column, counted from 1. */
function* faults(node) {
  if (node.isError || node.isMissing) {
    yield `${node.startPosition.row + 1}:${node.startPosition.column + 1}`;
  } else if (node.hasError) {
    for (const child of node.children) yield* faults(child);
  }
}

const names = (await readdir(root, { recursive: true })).filter(
  (name) => name.endsWith(".swift") && !/(^|\/)(node_modules|\.build)\//.test(name),
);
let found = 0;
for (const name of names) {
  const text = await readFile(new URL(name, root), "utf8");
  // The binding takes strings of less than 32 KiB at once, and any length in parts.
  const tree = parser.parse((position) => text.slice(position, position + 16_384));
  for (const place of faults(tree.rootNode)) {
    found++;
    console.error(`clients/swift/${name}:${place}: not Swift`);
  }
}
if (names.length === 0 || found > 0) process.exitCode = 1;
else console.log(`${names.length} Swift files parse.`);
