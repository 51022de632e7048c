import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

/** The running server, as `berth dev` describes it in dev.json. */
export interface Development {
  /** A URL. */
  readonly address: string;
  readonly tenants: readonly DemoTenant[];
}

export interface DemoTenant {
  readonly id: string;
  readonly name: string;
  /** A session that a member can book. */
  readonly session_id: string;
  readonly tokens: Readonly<Record<Role, string>>;
}

export type Role = "owner" | "admin" | "coach" | "member" | "partner";

declare module "vitest" {
  interface ProvidedContext {
    berth: Development;
    /** The path of the server that was built, for tests that start one of their own. */
    binary: string;
  }
}

const repository = fileURLToPath(new URL("../../..", import.meta.url));

/** How long the first start may take, in ms: most of it goes into a month of demo data. Only a failing run waits it out. */
const patience = 300_000;

const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/** One server for all tests, on a database of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "berth-client-"));
  const leftovers = [folder];
  let server: ChildProcess | undefined;
  const teardown = async () => {
    if (server) await stop(server);
    await Promise.all(leftovers.map((path) => rm(path, removal)));
  };
  // A run that is interrupted comes by here alone. There is no waiting here: the server
  // is killed, Postgres dies with it, and may still be writing meanwhile.
  process.once("exit", () => {
    server?.kill("SIGKILL");
    for (const path of leftovers) rmSync(path, removal);
  });
  try {
    const [berth, data] = [join(folder, "berth"), join(folder, "data")];
    say("building the server");
    // Git may distrust a checkout that belongs to someone else, and the version is of no interest here.
    const build = ["build", "-buildvcs=false", "-o", berth, "./server"];
    await promisify(execFile)("go", build, { cwd: repository });
    server = await start(berth, data, "127.0.0.1:0", leftovers);
    project.provide("berth", await described(data));
    project.provide("binary", berth);
    return teardown;
  } catch (error) {
    await teardown();
    throw error;
  }
}

/** Starts a server on a database in a folder, and waits until it serves. Where it leaves files elsewhere, it says so. */
export async function start(
  berth: string,
  data: string,
  listen: string,
  leftovers: string[],
): Promise<ChildProcess> {
  const server = spawn(berth, ["dev", "--listen", listen, "--data", data, "--log-level", "warn"], {
    env: ownEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await untilReady(server.stdout, (line) => {
      say(line);
      // Where Postgres may not run as root, its files are elsewhere.
      const elsewhere = /the cluster is in (\S+)/.exec(line)?.[1];
      if (elsewhere) leftovers.push(elsewhere);
    });
    return server;
  } catch (error) {
    await stop(server);
    throw error;
  }
}

/** What a server says of itself in its folder. */
export async function described(data: string): Promise<Development> {
  return JSON.parse(await readFile(join(data, "dev.json"), "utf8"));
}

/** Without what whoever runs the tests has set for Berth: a database of theirs, above all. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = ([name]: [string, unknown]) =>
    name === "DATABASE_URL" || name.startsWith("BERTH_");
  return Object.fromEntries(Object.entries(process.env).filter((entry) => !foreign(entry)));
}

async function untilReady(output: Readable, hear: (line: string) => void): Promise<void> {
  const deadline = AbortSignal.timeout(patience);
  for await (const line of createInterface({ input: output, signal: deadline })) {
    hear(line);
    if (line.includes("ready at ")) {
      output.resume(); // a full pipe would hold the server up
      return;
    }
  }
  throw new Error(
    deadline.aborted
      ? `not ready after ${patience / 1000} s`
      : "the server ended before it was ready",
  );
}

/** Ends a server as whoever runs it would. */
export async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  const lost = setTimeout(30_000, "lost" as const, { ref: false });
  if ((await Promise.race([ended, lost])) === "lost") {
    server.kill("SIGKILL");
    await ended;
  }
}

function say(line: string): void {
  process.stdout.write(`berth: ${line.trim()}\n`);
}
