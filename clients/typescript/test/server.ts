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

/** The running server, as in the dev.json of `berth dev`. */
export interface Development {
  /** A URL. */
  readonly address: string;
  /** The folder with its keys. */
  readonly data: string;
  readonly database_url: string;
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

const repository = fileURLToPath(new URL("../../..", import.meta.url));

/** Timeout of the first start, in ms. Most of the time goes into a month of demo data. */
const startTimeout = 300_000;

const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

/** A built server, and running ones with a database each. */
export interface Built {
  /** The path of the built server, for tests that start their own. */
  readonly binary: string;
  readonly servers: readonly Development[];
}

/** Builds the server and starts it a number of times. */
export async function startServers(
  count: number,
): Promise<Built & { teardown: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "berth-client-"));
  const leftovers = [folder];
  const running: ChildProcess[] = [];
  const teardown = async () => {
    await Promise.all(running.map(stop));
    await Promise.all(leftovers.map((path) => rm(path, removal)));
  };
  // An interrupted run only gets here, not to teardown. It cannot wait: it kills the servers, and
  // Postgres, which dies with them, may still be writing.
  process.once("exit", () => {
    for (const server of running) server.kill("SIGKILL");
    for (const path of leftovers) rmSync(path, removal);
  });
  try {
    const binary = join(folder, "berth");
    say("building the server");
    // Without this flag Git may refuse a checkout with another owner. The tests need no version.
    const build = ["build", "-buildvcs=false", "-o", binary, "./server"];
    await promisify(execFile)("go", build, { cwd: repository });
    const starts = Array.from({ length: count }, async (_, n) => {
      const data = join(folder, `data-${n}`);
      running.push(await start(binary, data, "127.0.0.1:0", leftovers));
      return described(data);
    });
    await Promise.allSettled(starts); // teardown must know every server
    return { binary, servers: await Promise.all(starts), teardown };
  } catch (error) {
    await teardown();
    throw error;
  }
}

/** Starts a server with its data in a folder and waits until it is ready. Adds its other folders to leftovers. */
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
      // Postgres does not run as root; then its files are in another folder.
      const cluster = /the cluster is in (\S+)/.exec(line)?.[1];
      if (cluster) leftovers.push(cluster);
    });
    return server;
  } catch (error) {
    await stop(server);
    throw error;
  }
}

/** Reads the dev.json of a server. */
export async function described(data: string): Promise<Development> {
  return { ...JSON.parse(await readFile(join(data, "dev.json"), "utf8")), data };
}

/** The environment without the developer's Berth settings, above all their database. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = ([name]: [string, unknown]) =>
    name === "DATABASE_URL" || name.startsWith("BERTH_");
  const own = Object.entries(process.env).filter((entry) => !foreign(entry));
  // No name server listens there, so that the tests ask none of the network.
  return { ...Object.fromEntries(own), BERTH_DNS: "127.0.0.1:9" };
}

async function untilReady(output: Readable, onLine: (line: string) => void): Promise<void> {
  const deadline = AbortSignal.timeout(startTimeout);
  for await (const line of createInterface({ input: output, signal: deadline })) {
    onLine(line);
    if (line.includes("ready at ")) {
      output.resume(); // a full pipe would block the server
      return;
    }
  }
  throw new Error(
    deadline.aborted
      ? `not ready after ${startTimeout / 1000} s`
      : "the server ended before it was ready",
  );
}

/** Stops a server with SIGTERM, and kills it after 30 s. */
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
