// Parses all Swift files of the package and the Swift code in its README. Fails if something does not parse
// or a service of the contract is missing. Types are checked by the compiler: run `swift test` on a Mac.
import { readdir, readFile } from "node:fs/promises";
import Parser from "tree-sitter";
import Swift from "tree-sitter-swift";

const root = new URL("../", import.meta.url);
const parser = new Parser();
parser.setLanguage(Swift);

/** Positions of syntax errors, as line:column, from 1. */
function* syntaxErrors(node) {
  if (node.isError || node.isMissing) {
    yield `${node.startPosition.row + 1}:${node.startPosition.column + 1}`;
  } else if (node.hasError) {
    for (const child of node.children) yield* syntaxErrors(child);
  }
}

const names = (await readdir(root, { recursive: true })).filter(
  (name) => name.endsWith(".swift") && !/(^|\/)(node_modules|\.build)\//.test(name),
);
const texts = await Promise.all(
  names.map(async (name) => ({ name, text: await readFile(new URL(name, root), "utf8") })),
);
const readme = await readFile(new URL("README.md", root), "utf8");
for (const { 1: text } of readme.matchAll(/^```swift\n(.*?)^```$/gms)) {
  texts.push({ name: "README.md", text });
}
let found = 0;
for (const { name, text } of texts) {
  // The binding limits strings to 32 KiB, so the text is passed in parts.
  const tree = parser.parse((position) => text.slice(position, position + 16_384));
  for (const place of syntaxErrors(tree.rootNode)) {
    found++;
    console.error(`clients/swift/${name}:${place}: syntax error`);
  }
}

// Services and public RPCs must be listed in the hand-written code.
const source = texts.map(({ text }) => text).join("\n");
const contract = new URL("../../proto/berth/v1/", root);
for (const name of (await readdir(contract)).filter((file) => file.endsWith("_service.proto"))) {
  const text = await readFile(new URL(name, contract), "utf8");
  const service = /^service (\w+) \{/m.exec(text)?.[1];
  const open = text.matchAll(/rpc (\w+)\([^{]*\{(?:(?!\n {2}\}).)*RULE_PUBLIC/gs);
  const wanted = [`Berth_V1_${service}Client(`];
  for (const { 1: method } of open) wanted.push(`"/berth.v1.${service}/${method}"`);
  for (const missing of wanted.filter((words) => !source.includes(words))) {
    found++;
    console.error(`clients/swift/Sources/Berth: ${missing} is missing`);
  }
}

if (names.length === 0 || found > 0) process.exitCode = 1;
else console.log(`${texts.length} Swift sources parse.`);
