// Checks the Swift package where there is no Swift compiler. The manifest and all code must parse, what the contract
// requires must be in the hand-written code, and each type and member that the hand-written code, its tests and the
// README name must be declared. Only the compiler checks types: run `swift test` on a Mac.
import { readdir, readFile } from "node:fs/promises";
import { problems } from "./package.mjs";

const root = new URL("../../../", import.meta.url);

async function read(path) {
  return { path, text: await readFile(new URL(path, root), "utf8") };
}

async function list(folder, ending) {
  const names = await readdir(new URL(folder, root), { recursive: true });
  return names.filter((name) => name.endsWith(ending)).map((name) => `${folder}${name}`);
}

const all = [
  "Package.swift",
  ...(await list("clients/swift/Sources/", ".swift")),
  ...(await list("clients/swift/Tests/", ".swift")),
];
const services = await list("proto/berth/v1/", "_service.proto");
const found = problems({
  swift: await Promise.all(all.map(read)),
  readme: await read("clients/swift/README.md"),
  services: await Promise.all(services.map(read)),
  known: JSON.parse(await readFile(new URL("names.json", import.meta.url), "utf8")),
});
for (const problem of found) console.error(problem);
if (found.length > 0) process.exitCode = 1;
else console.log(`${all.length} Swift files and the README are in order.`);
