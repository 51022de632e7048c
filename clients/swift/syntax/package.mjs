import { code, declared, parse, syntaxErrors, used } from "./source.mjs";

const sources = "clients/swift/Sources/Berth/";
const generated = `${sources}Generated/`;

/**
 * What is wrong with the package, one line each. Files have a path and a text. known has the names of the packages
 * that the code uses, by package.
 */
export function problems({ swift, readme, services, known }) {
  const files = [...swift, ...blocks(readme)].map(({ path, text }) => ({ path, ...parse(text) }));
  return [
    ...files.flatMap(({ path, root }) =>
      [...syntaxErrors(root)].map((place) => `${path}:${place}: syntax error`),
    ),
    ...missingOfContract(files, services),
    ...unknownNames(files, known),
  ];
}

/** The Swift code of a README. Blank lines keep the line numbers. */
function blocks({ path, text }) {
  return [...text.matchAll(/^```swift\n(.*?)^```$/gms)].map((match) => ({
    path,
    text: text.slice(0, match.index).replace(/[^\n]/g, "") + "\n" + match[1],
  }));
}

/** Services and public RPCs must be in hand-written code: generated code has them anyway. */
function missingOfContract(files, services) {
  const written = files
    .filter(({ path }) => path.startsWith(sources) && !path.startsWith(generated))
    .map(code)
    .join(" ")
    .replace(/ /g, "");
  const wanted = services.flatMap(({ text }) => {
    const service = /^service (\w+) \{/m.exec(text)?.[1];
    const open = text.matchAll(/rpc (\w+)\([^{]*\{(?:(?!\n {2}\}).)*RULE_PUBLIC/gs);
    return [
      `Berth${service}Client(`,
      ...[...open].map(([, method]) => `"/berth.v1.${service}/${method}"`),
    ];
  });
  const listed = written.match(/"\/berth\.v1\.\w+\/\w+"/g) ?? [];
  return [
    ...wanted.filter((words) => !written.includes(words)).map((words) => `${words} is missing`),
    ...listed.filter((path) => !wanted.includes(path)).map((path) => `${path} is not public`),
  ].map((problem) => `${sources}: ${problem}`);
}

/** Each name must be declared in the package, or be on the list of names of other packages, which has no others. */
function unknownNames(files, known) {
  const all = new Set(Object.values(known).flat());
  const types = new Set(all);
  const members = new Set(all);
  for (const { root } of files) {
    const names = declared(root);
    for (const name of names.types) {
      types.add(name);
      members.add(name);
    }
    for (const name of names.members) members.add(name);
  }
  const uses = files
    .filter(({ path }) => !path.startsWith(generated))
    .flatMap((file) => [...used(file)].map((use) => ({ path: file.path, ...use })));
  const needed = new Set(uses.map(({ name }) => name));
  return [
    ...uses
      .filter(({ name, kind }) => !(kind === "type" ? types : members).has(name))
      .map(({ path, name, kind, place }) => `${path}:${place}: unknown ${kind} ${name}`),
    ...[...all].filter((name) => !needed.has(name)).map((name) => `names.json: ${name} is not used`),
  ];
}
