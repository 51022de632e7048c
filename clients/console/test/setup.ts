import type { FullConfig } from "@playwright/test";
import { startServers } from "../../typescript/test/server";

/** Builds the server and starts one per worker. */
export default async function setup({ workers }: FullConfig): Promise<() => Promise<void>> {
  const { teardown, ...built } = await startServers(workers);
  process.env.BUILT = JSON.stringify(built); // workers inherit it
  return teardown;
}
