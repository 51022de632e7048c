import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "@playwright/test";
import {
  berth,
  call,
  dateIn,
  day,
  freePort,
  makeSession,
  type Visit,
  visit,
  withBrowser,
} from "./browser";

withBrowser();

const phone = { role: "member", width: 390, height: 844 } as const;

/** Removes expected errors: the browser logs every call that failed to connect. */
function ignoreErrors({ complaints }: Visit, what: RegExp): void {
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !what.test(text)));
}

/** A proxy in front of the server. Closed, the server appears to be down. */
async function proxy() {
  const { hostname, port } = new URL(berth().address);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  const at = await freePort();
  const listen = () => new Promise<void>((done) => server.listen(at, "127.0.0.1", done));
  await listen();
  const close = async () => {
    const closed = new Promise((done) => server.close(done));
    for (const one of open) one.destroy();
    await closed;
  };
  return {
    address: `http://127.0.0.1:${at}`,
    closed: once(server, "close"),
    close,
    open: listen,
    [Symbol.asyncDispose]: () => (server.listening ? close() : Promise.resolve()),
  };
}

test.describe("members see the problem and lose nothing", () => {
  test("when the connection is lost while they book", async () => {
    const title = "Out of Range";
    const id = await makeSession(title, 4 * day, { capacity: 5 });
    await using there = await visit({ ...phone, path: `/app/?date=${dateIn(4 * day)}` });
    const { page, context } = there;
    const card = page.getByRole("article", { name: title });
    await card.getByRole("button", { name: `Book: ${title}` }).click();
    const dialog = page.getByRole("dialog", { name: title });
    await dialog.getByRole("button", { name: "Book", exact: true }).waitFor();
    await context.setOffline(true);
    await dialog.getByRole("button", { name: "Book", exact: true }).click();
    await dialog.getByRole("alert").filter({ hasText: "Cannot reach the server" }).waitFor();
    await page.getByText("No connection.").waitFor();
    await context.setOffline(false);
    await page.getByText("No connection.").waitFor({ state: "hidden" });
    await dialog.getByRole("button", { name: "Book", exact: true }).click();
    await card.getByText("Booked").waitFor();
    const { session } = await call<{ session: { seatsTaken: number } }>(
      "owner",
      "SessionService/GetSession",
      { sessionId: id },
    );
    expect(session.seatsTaken).toBe(1);
    ignoreErrors(there, /ERR_INTERNET_DISCONNECTED/);
  });

  test("when the answer to a booking never arrives", async () => {
    const title = "Said Twice";
    const id = await makeSession(title, 5 * day, { capacity: 5 });
    await using there = await visit({ ...phone, path: `/app/?date=${dateIn(5 * day)}` });
    const { page } = there;
    const card = page.getByRole("article", { name: title });
    await card.getByRole("button", { name: `Book: ${title}` }).click();
    const keys: string[] = [];
    await page.route("**/berth.v1.BookingService/Book", async (route) => {
      keys.push(route.request().headers()["idempotency-key"] ?? "");
      if (keys.length > 1) return route.continue();
      await route.fetch(); // it is booked, but the answer is lost
      await route.abort("connectionreset");
    });
    await page.getByRole("dialog", { name: title }).getByRole("button", { name: "Book" }).click();
    await card.getByText("Booked").waitFor();
    await expect.poll(() => keys.length).toBe(2);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[0]).not.toBe("");
    const { bookings } = await call<{ bookings: unknown[] }>(
      "owner",
      "BookingService/GetSessionRoster",
      {
        sessionId: id,
      },
    );
    expect(bookings.length).toBe(1);
    ignoreErrors(there, /ERR_CONNECTION_RESET/);
  });

  test("when their sign-in ends while they type", async () => {
    await using there = await visit({ ...phone, path: "/app/me" });
    const { page } = there;
    const name = page.getByLabel("Name");
    await name.fill("Mona M. Member");
    await page.route("**/dev/token", (route) => route.fulfill({ status: 503 }));
    await page.route("**/berth.v1.**", (route) =>
      route.fulfill({
        status: 401,
        contentType: "application/json",
        body: '{"code":"unauthenticated"}',
      }),
    );
    // Not a click: another call may already have found out, and the dialog covers the button.
    await page.getByRole("button", { name: "Save" }).dispatchEvent("click");
    const again = page.getByRole("dialog", { name: "Please sign in again" });
    await again.getByText("What you typed is kept").waitFor();
    await page.unrouteAll();
    await again.getByRole("button", { name: "Sign in again" }).click();
    await again.waitFor({ state: "hidden" });
    await expect(name).toHaveValue("Mona M. Member");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Mona M. Member" }).waitFor();
    await name.fill("Mona Member");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Mona Member" }).waitFor();
    ignoreErrors(there, /503/);
  });

  test("when the server is started again while they type", async () => {
    await using front = await proxy();
    await using there = await visit({ ...phone, path: "" });
    const { page } = there;
    // The page shows before all scripts and styles are there.
    await page.route(/\/assets\/(live-.*\.js|dialogs-.*\.css)$/, async (route) => {
      await front.closed;
      await route.continue();
    });
    const received: string[] = [];
    page.on("response", (answer) => answer.ok() && received.push(answer.url()));
    const receives = (what: RegExp) =>
      expect.poll(() => received.some((url) => what.test(url)), what.source).toBe(true);
    await page.goto(`${front.address}/app/me`);
    const phoneNumber = page.getByLabel("Phone");
    await phoneNumber.fill("+49 151 23456780");
    await front.close();
    await page.getByText("No connection.").waitFor();
    await page.getByRole("button", { name: "Save" }).first().click();
    // The form says it, not another part of the page: then the save has failed, and is not tried again.
    const form = page.locator("form").filter({ has: phoneNumber });
    await form.getByText("Cannot reach the server").waitFor();
    await expect(phoneNumber).toHaveValue("+49 151 23456780");
    await front.open();
    await page.getByText("No connection.").waitFor({ state: "hidden" });
    await expect(phoneNumber).toHaveValue("+49 151 23456780");
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.getByText("Saved", { exact: true }).waitFor();

    // Later events are received without a reload.
    await receives(/WatchEvents$/);
    await page.getByRole("link", { name: "My bookings" }).last().click();
    const title = "After the Storm";
    const id = await makeSession(title, 6 * day);
    await call("member", "BookingService/Book", { sessionId: id });
    await page.getByRole("article", { name: title }).waitFor();
    await receives(/dialogs-.*\.css$/);
    ignoreErrors(there, /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED/);
  });
});
