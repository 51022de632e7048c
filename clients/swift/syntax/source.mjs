// Reads Swift source: its syntax errors, the names that it declares and the names that it uses.
import Parser from "tree-sitter";
import Swift from "tree-sitter-swift";

const parser = new Parser();
parser.setLanguage(Swift);

/** Parses a text. The result has the text as the grammar read it, with the same positions. */
export function parse(original) {
  // The grammar does not know `nonisolated(unsafe)`.
  const text = original.replaceAll("nonisolated(unsafe)", "nonisolated        ");
  // The binding limits strings to 32 KiB, so the text is passed in parts.
  const tree = parser.parse((position) => text.slice(position, position + 16_384));
  return { text, root: tree.rootNode };
}

/** Positions of syntax errors, as line:column, from 1. */
export function* syntaxErrors(node) {
  if (node.isError || node.isMissing) yield place(node);
  else if (node.hasError) for (const child of node.children) yield* syntaxErrors(child);
}

const declarations = new Parser.Query(
  Swift,
  `
  (class_declaration name: (type_identifier) @type)
  (protocol_declaration name: (type_identifier) @type)
  (typealias_declaration name: (type_identifier) @type)
  (associatedtype_declaration name: (type_identifier) @type)
  (type_parameter (type_identifier) @type)
  (function_declaration name: (simple_identifier) @member)
  (protocol_function_declaration name: (simple_identifier) @member)
  (protocol_property_declaration name: (pattern (simple_identifier) @member))
  (enum_entry name: (simple_identifier) @member)
  (class_body (property_declaration name: (pattern (simple_identifier) @member)))
  (enum_class_body (property_declaration name: (pattern (simple_identifier) @member)))
  (source_file (property_declaration name: (pattern (simple_identifier) @member)))
  `,
);

/** The types, and the functions, properties and cases, that a tree declares. Local variables do not count. */
export function declared(root) {
  const names = { types: new Set(), members: new Set() };
  for (const { name, node } of declarations.captures(root)) {
    names[`${name}s`].add(plain(node.text));
  }
  return names;
}

/** The types and the dotted members that a source names, with their positions. */
export function* used({ text, root }) {
  for (const node of leaves(root)) {
    if (node.type !== "simple_identifier" && node.type !== "type_identifier") continue;
    const name = plain(node.text);
    const isDotted = text[node.startIndex - 1] === "." && text[node.startIndex - 2] !== ".";
    if (isDotted) yield { name, kind: "member", place: place(node) };
    else if (/^[A-Z]/.test(name)) yield { name, kind: "type", place: place(node) };
  }
}

/** Source without comments, so that what a comment says is not taken for code. */
export function code({ root }) {
  return [...leaves(root)].map((node) => node.text).join(" ");
}

function* leaves(node) {
  if (node.type === "comment" || node.type === "multiline_comment") return;
  if (node.childCount === 0) yield node;
  else for (const child of node.children) yield* leaves(child);
}

/** A name without the backticks that generated code puts around names. */
function plain(name) {
  return name.replaceAll("`", "");
}

function place(node) {
  return `${node.startPosition.row + 1}:${node.startPosition.column + 1}`;
}
