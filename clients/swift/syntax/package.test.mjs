import assert from "node:assert/strict";
import { test } from "node:test";
import { problems } from "./package.mjs";

const service = {
  path: "proto/berth/v1/class_service.proto",
  text: `service ClassService {
  rpc Get(GetRequest) returns (GetResponse) {
    option (access) = {rule: RULE_PUBLIC};
  }
}`,
};
const generated = `
public struct BerthClass { public nonisolated(unsafe) var title: String = "" }
public enum BerthKind { case yoga }
public final class BerthClassServiceClient { init() { print("/berth.v1.ClassService/Get") } }
`;
const client = `
let classes = BerthClassServiceClient()
let publicPaths = ["/berth.v1.ClassService/Get"]
`;

/** The problems of a small package with this code, after its path. */
function found({ code = client, made = generated, tests = "", readme = "", known = { Swift: ["String"] } }) {
  return problems({
    swift: [
      { path: "clients/swift/Sources/Berth/Generated/class.pb.swift", text: made },
      { path: "clients/swift/Sources/Berth/Client.swift", text: code },
      { path: "clients/swift/Tests/BerthTests/Tests.swift", text: `let a: String = ""\n${tests}` },
    ],
    readme: { path: "README.md", text: readme },
    services: [service],
    known,
  });
}

test("code that is in order has no problems", () => {
  assert.deepEqual(found({ tests: "func title(of c: BerthClass) -> String { return c.title }" }), []);
});

test("a file that does not parse is found", () => {
  assert.match(found({ tests: "func (" })[0], /^clients\/swift\/Tests.*:2:\d+: syntax error$/);
});

test("what the contract requires is missing if only generated code or a comment has it", () => {
  const code = client.replaceAll(/^/gm, "// ");
  assert.deepEqual(found({ code }), [
    "clients/swift/Sources/Berth/: BerthClassServiceClient( is missing",
    'clients/swift/Sources/Berth/: "/berth.v1.ClassService/Get" is missing',
  ]);
});

test("what generated code lacks is not required, and what the contract lacks stays", () => {
  const later = generated.replaceAll("ClassService", "OldService");
  const old = client.replaceAll("ClassService", "OldService");
  assert.deepEqual(found({ code: old, made: later }), []);
});

test("a path that is not public is found", () => {
  const code = `${client}let other = "/berth.v1.ClassService/Delete"`;
  assert.match(found({ code })[0], /ClassService\/Delete" is not public$/);
});

test("types and dotted members that are not declared are found", () => {
  const tests = "func kind(of c: BerthClas) -> BerthKind { return c.name == c.title ? .yoga : .pilates }";
  assert.deepEqual(found({ tests }), [
    "clients/swift/Tests/BerthTests/Tests.swift:2:17: unknown type BerthClas",
    "clients/swift/Tests/BerthTests/Tests.swift:2:52: unknown member name",
    "clients/swift/Tests/BerthTests/Tests.swift:2:79: unknown member pilates",
  ]);
});

test("local variables do not declare members", () => {
  const tests = "func f(c: BerthClass) { let name = c.title; _ = c.name }";
  assert.match(found({ tests })[0], /unknown member name$/);
});

test("the README is checked, with its line numbers", () => {
  const readme = "# Berth\n\n```swift\nlet c = BerthKlass()\n```\n";
  assert.deepEqual(found({ readme }), ["README.md:4:9: unknown type BerthKlass"]);
});

test("names that are not used leave the list", () => {
  const known = { Swift: ["String"], Foundation: ["Date"] };
  assert.deepEqual(found({ known }), ["names.json: Date is not used"]);
});
