import type { TestProject } from "vitest/node";
import { type Development, startServers } from "./server.js";

declare module "vitest" {
  interface ProvidedContext {
    berth: Development;
    /** The path of the built server, for tests that start their own. */
    binary: string;
  }
}

/** Starts one server for all tests of Vitest. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { binary, servers, teardown } = await startServers(1);
  const [berth] = servers;
  if (berth) project.provide("berth", berth);
  project.provide("binary", binary);
  return teardown;
}
