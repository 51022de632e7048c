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

/**
 * Services and public RPCs must be in hand-written code, as far as generated code has them: it can be older than the
 * contract, which `make check-swift` reports.
 */
function missingOfContract(files, services) {
  const text = (inside) =>
    files
      .filter(({ path }) => path.startsWith(sources) && path.startsWith(generated) === inside)
      .map(code)
      .join(" ")
      .replace(/ /g, "");
  const [written, made] = [text(false), text(true)];
  const every = services.flatMap(({ text }) => {
    const service = /^service (\w+) \{/m.exec(text)?.[1];
    return [...text.matchAll(/rpc (\w+)\([^{]*\{((?:(?!\n {2}\}).)*)/gs)].map(([, method, body]) => ({
      client: `Berth${service}Client`,
      path: `"/berth.v1.${service}/${method}"`,
      open: body.includes("RULE_PUBLIC"),
    }));
  });
  const clients = new Set(every.map(({ client }) => client).filter((name) => made.includes(`class${name}`)));
  const open = every.filter((rpc) => rpc.open).map(({ path }) => path);
  const closed = new Set(every.filter((rpc) => !rpc.open).map(({ path }) => path));
  const listed = written.match(/"\/berth\.v1\.\w+\/\w+"/g) ?? [];
  return [
    ...[...[...clients].map((name) => `${name}(`), ...open.filter((path) => made.includes(path))]
      .filter((words) => !written.includes(words))
      .map((words) => `${words} is missing`),
    ...listed
      .filter((path) => closed.has(path) || !made.includes(path))
      .map((path) => `${path} is not public`),
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
