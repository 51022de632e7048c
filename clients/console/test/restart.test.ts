import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { described, start, stop } from "../../typescript/test/server";
import { built, freePort, visit, withBrowser } from "./browser";

/* Has its own server, which it restarts during the test. */

withBrowser();

let server: Awaited<ReturnType<typeof start>> | undefined;
let again: () => Promise<void>;
let folder = "";
const leftovers: string[] = [];

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-restart-"));
  leftovers.push(folder);
  const listen = `127.0.0.1:${await freePort()}`;
  again = async () => {
    server = await start(built().binary, join(folder, "data"), listen, leftovers);
  };
  await again();
});

test.afterAll(async () => {
  if (server) await stop(server);
  await Promise.all(
    leftovers.map((path) => rm(path, { recursive: true, force: true, maxRetries: 10 })),
  );
});

test("keeps typed text during a server restart", async () => {
  test.setTimeout(600_000);
  const at = await described(join(folder, "data"));
  const id = at.tenants[0]?.session_id;
  await using there = await visit({ role: "owner", path: `/sessions/${id}`, at });
  await using other = await visit({ role: "admin", path: `/sessions/${id}`, at });
  const { page } = there;
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  const form = page.getByRole("dialog", { name: "Edit" });
  await form.getByLabel("Title").fill("After the Storm");
  await form.getByLabel("Description").fill("Typed before, kept after.");
  await other.page.getByText("Roster").waitFor();

  if (server) await stop(server);
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("No connection.").waitFor();
  await form.getByText("Cannot reach the server").waitFor();
  await expect(form.getByLabel("Title")).toHaveValue("After the Storm");
  // Users who only read are told, too, and keep seeing the page.
  await other.page.getByText("No connection.").waitFor();
  await other.page.getByText("Roster").waitFor();

  await again();
  await page.getByText("No connection.").waitFor({ state: "hidden" });
  await expect(form.getByLabel("Description")).toHaveValue("Typed before, kept after.");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: /After the Storm/ }).waitFor();
  // The event stream is back: the other browser updates without a reload.
  await other.page.getByRole("heading", { name: /After the Storm/ }).waitFor();

  // The browser logs every call that failed to connect.
  for (const { complaints } of [there, other]) {
    complaints.splice(
      0,
      complaints.length,
      ...complaints.filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(text)),
    );
  }
});
