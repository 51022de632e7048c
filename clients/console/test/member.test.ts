import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import {
  at,
  berth,
  call,
  club,
  dateIn,
  day,
  hour,
  makeSession,
  openBrowser,
  promotes,
  settled,
  violations,
  visit,
  withBrowser,
} from "./browser";

withBrowser();

const phone = { role: "member", width: 390, height: 844 } as const;

interface Listed {
  readonly id: string;
  readonly name: string;
}

/** Creates and publishes a tee time. */
async function makeTeeTime(title: string, startsIn: number, capacity: number): Promise<string> {
  const [{ locations }, { services }] = await Promise.all([
    call<{ locations: Listed[] }>("owner", "CatalogService/ListLocations", {}, club),
    call<{ services: Listed[] }>("owner", "CatalogService/ListServices", {}, club),
  ]);
  const { session } = await call<{ session: { id: string } }>(
    "owner",
    "SessionService/CreateSession",
    {
      session: {
        serviceId: services.find(({ name }) => name === "18 holes")?.id,
        locationId: locations[0]?.id,
        title,
        startTime: at(startsIn).toISOString(),
        capacity,
        waitlistCapacity: 4,
      },
      publish: true,
    },
    club,
  );
  return session.id;
}

async function seatsTaken(sessionId: string, tenant?: number): Promise<number> {
  const { session } = await call<{ session: { seatsTaken?: number } }>(
    "owner",
    "SessionService/GetSession",
    { sessionId },
    tenant,
  );
  return session.seatsTaken ?? 0;
}

const secondsOf = async (clock: string | null) => {
  const [seconds = 0, minutes = 0, hours = 0] = (clock ?? "").split(":").map(Number).reverse();
  return seconds + 60 * minutes + 3600 * hours;
};

/** Fails if the countdown does not run. */
async function countsDown(page: Page, within: ReturnType<Page["locator"]>): Promise<void> {
  const clock = within.getByRole("timer");
  const first = await secondsOf(await clock.textContent());
  expect(first).toBeGreaterThan(0);
  await expect.poll(async () => secondsOf(await clock.textContent())).toBeLessThan(first);
  expect(page.url()).toContain("/app/");
}

test.describe("a tee time", () => {
  test("is held with guests and a cart, and confirmed before the hold expires", async () => {
    const title = "Sunset Loop";
    const id = await makeTeeTime(title, 4 * day, 4);
    const date = dateIn(4 * day, "Europe/London");
    await using there = await visit({ ...phone, tenant: club, path: `/app/?date=${date}` });
    const { page } = there;
    await page.getByRole("button", { name: `Book: ${title}` }).click();
    const dialog = page.getByRole("dialog", { name: title });
    await dialog.getByLabel("Seats").fill("3");
    await dialog.getByLabel("Guests").fill("Ida and Otto");
    await dialog.getByLabel(/^Cart, £35/).fill("2");
    await dialog.getByLabel(/^Caddie/).fill("1");
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Hold seat" }).click();
    await dialog.getByText(/Held for you × 3/).waitFor();
    expect(await seatsTaken(id, club)).toBe(3);
    await countsDown(page, dialog);
    expect(await violations(page)).toEqual([]);

    // After closing the dialog, the hold is still in the week and among the member's bookings.
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: `Held: ${title}` }).click();
    const held = page.getByRole("article", { name: `Held for you: ${title}` });
    await held.getByRole("checkbox", { name: /Caddie × 1/ }).uncheck();
    await held.getByLabel("Partner membership").selectOption({ label: "Links Card" });
    await held.getByLabel("Membership number").fill("not a number");
    await held.getByRole("button", { name: "Confirm" }).click();
    await held.getByText("The partner membership is not valid.").waitFor();
    await held.getByLabel("Membership number").fill("AB-123456");
    await held.getByRole("button", { name: "Confirm" }).click();
    const ticket = page.getByRole("article", { name: title, exact: true });
    await ticket.getByText("Cart × 2").waitFor();
    await held.waitFor({ state: "hidden" });
    const { bookings } = await call<{ bookings: Record<string, unknown>[] }>(
      "owner",
      "BookingService/GetSessionRoster",
      { sessionId: id },
      club,
    );
    expect(bookings[0]).toMatchObject({
      status: "BOOKING_STATUS_CONFIRMED",
      partySize: 3,
      note: "Ida and Otto",
      benefit: { providerCode: "LINKSCARD", membershipNumber: "AB-123456", discountPercent: 15 },
    });

    // The desk sees that nobody has verified the number, and can give it to another member.
    await using desk = await visit({ role: "owner", tenant: club, path: `/sessions/${id}` });
    await desk.page.getByText("LINKSCARD AB-123456").waitFor();
    await desk.page.getByText("unverified").waitFor();
    await desk.page.goto(new URL("/catalog?tab=benefits", desk.page.url()).href);
    await desk.page.getByRole("button", { name: "Edit: Links Card" }).click();
    const card = desk.page.getByRole("dialog", { name: "Links Card" });
    await card.getByRole("row", { name: /AB-123456 unverified/ }).waitFor();
    await card.getByRole("button", { name: /^Release/ }).click();
    await card.getByText("No member has used a number yet.").waitFor();
  });

  test("is released from a hold", async () => {
    const title = "Second Thoughts";
    const id = await makeTeeTime(title, 4 * day, 4);
    const date = dateIn(4 * day, "Europe/London");
    await using there = await visit({ ...phone, tenant: club, path: `/app/?date=${date}` });
    const { page } = there;
    await page.getByRole("button", { name: `Book: ${title}` }).click();
    const dialog = page.getByRole("dialog", { name: title });
    await dialog.getByRole("button", { name: "Hold seat" }).click();
    await dialog.getByRole("button", { name: "Release seat" }).click();
    await page.getByText("Seat released").waitFor();
    await page.getByRole("button", { name: `Book: ${title}` }).waitFor();
    expect(await seatsTaken(id, club)).toBe(0);
  });
});

test.describe("an offer", () => {
  test("arrives live, counts down, and is accepted", async () => {
    const title = "Captain’s Draw";
    const id = await makeTeeTime(title, 5 * day, 1);
    const { booking } = await call<{ booking: { id: string } }>(
      "coach",
      "BookingService/Book",
      { sessionId: id },
      club,
    );
    await call("member", "BookingService/Book", { sessionId: id }, club);
    await using there = await visit({ ...phone, tenant: club, path: "/app/bookings" });
    const { page } = there;
    await page.getByRole("article", { name: title }).getByText("Waitlist, no. 1").waitFor();
    await page.evaluate(() => {
      (globalThis as { same?: boolean }).same = true; // lost if the page reloads
    });
    await call("coach", "BookingService/CancelBooking", { bookingId: booking.id }, club);
    const offer = page.getByRole("article", { name: `A seat for you: ${title}` });
    await offer.waitFor();
    await countsDown(page, offer);
    expect(await violations(page)).toEqual([]);

    // The offer is shown on every page.
    await page.getByRole("link", { name: "Week" }).last().click();
    await page.getByText(`A seat in ${title} is available for you.`).waitFor();
    await page.getByRole("link", { name: `View offer: ${title}` }).click();
    await offer.getByRole("button", { name: "Accept" }).click();
    await page
      .getByRole("article", { name: title, exact: true })
      .getByRole("button", { name: `Cancel booking: ${title}` })
      .waitFor();
    expect(await page.evaluate(() => (globalThis as { same?: boolean }).same)).toBe(true);
    expect(await seatsTaken(id, club)).toBe(1);
  });

  test("is declined, and explained in the user’s language", async () => {
    const title = "Early Bird";
    const id = await makeTeeTime(title, 6 * day, 1);
    const { booking } = await call<{ booking: { id: string } }>(
      "coach",
      "BookingService/Book",
      { sessionId: id },
      club,
    );
    await call("member", "BookingService/Book", { sessionId: id }, club);
    await call("coach", "BookingService/CancelBooking", { bookingId: booking.id }, club);
    await using there = await visit({
      ...phone,
      tenant: club,
      locale: "de-DE",
      path: "/app/bookings",
    });
    const { page } = there;
    const offer = page.getByRole("article", { name: `Ein Platz für Sie: ${title}` });
    await offer.getByRole("button", { name: "Ablehnen" }).click();
    const waiting = page.getByRole("article", { name: title, exact: true });
    await waiting.getByRole("button", { name: /^Warum\?/ }).click();
    const explanation = page.getByRole("dialog", { name: "Ihr Verlauf auf der Warteliste" });
    await explanation.getByText("Sie waren Nummer 1 von 1 auf der Warteliste.").first().waitFor();
    await explanation.getByText(/Ihnen wurde 1 Platz angeboten, bis/).waitFor();
    await explanation.getByText("diese Plätze wurden Ihnen bereits angeboten").waitFor();
    expect(await explanation.textContent()).not.toMatch(/\b(seat|offered|line)\b/);
    expect(await violations(page)).toEqual([]);
  });
});

test("joins the waitlist for a time window, and shows the position", async () => {
  // The only session of its service is full, so there is a waitlist.
  const [kind, title] = ["Aerial", "Full House"];
  const { service } = await call<{ service: Listed }>("owner", "CatalogService/CreateService", {
    service: { name: kind, duration: "3600s" },
  });
  const { members } = await call<{ members: Listed[] }>("owner", "MemberService/ListMembers", {
    filter: { role: "coach" },
  });
  const coach = members.find(({ name }) => name === "Hugo Coach"); // has no sessions in the demo data
  const id = await makeSession(title, 8 * day, {
    serviceId: service.id,
    coachId: coach?.id,
    capacity: 1,
    waitlistCapacity: 5,
  });
  await call("owner", "BookingService/Book", { sessionId: id });
  // The link comes with the list: below a list that is still loading, it would move under a finger.
  await using there = await visit({ ...phone, path: "" });
  const { page } = there;
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/berth.v1.SessionService/ListSessions*", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${berth().address}/app/`);
  const link = page.getByRole("link", { name: /Wait for a time window/ });
  await page.getByRole("status", { name: "Loading" }).first().waitFor();
  await expect(link).toBeHidden();
  answer();
  await settled(page);
  await link.click();
  await page.getByRole("heading", { name: "Wait for a time window" }).waitFor();
  await page.getByLabel("Service").selectOption({ label: kind });
  await page.getByLabel("Location").selectOption({ label: "Harbour" });
  const date = dateIn(8 * day);
  await page.getByLabel("To").fill(date);
  await page.getByLabel("From").fill(date);
  const { session } = await call<{ session: { startTime: string } }>(
    "owner",
    "SessionService/GetSession",
    { sessionId: id },
  );
  const clock = (ms: number) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", timeStyle: "short" }).format(
      Date.parse(session.startTime) + ms,
    );
  await page.getByLabel("Starts after").fill(clock(0));
  await page.getByLabel("Starts before").fill(clock(60_000));
  await page.getByLabel("Coach").selectOption({ label: "Hugo Coach" });
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Join waitlist", exact: true }).click();
  await page.getByText("You are number 1 on the waitlist.").waitFor();
  const entry = page.getByRole("article", { name: kind });
  await entry.getByText("Waitlist, no. 1").waitFor();
  await entry.getByText(/^If a seat opens, we (book it for you|offer it to you)\.$/).waitFor();
  await entry.getByText(`${clock(0)} to ${clock(60_000)}, with Hugo Coach, Harbour`).waitFor();
  await entry.getByRole("button", { name: /^Why\?/ }).click();
  await page.getByText("No seat has opened since you joined the waitlist.").waitFor();
  await page.keyboard.press("Escape");

  // A seat opens: the member is promoted.
  await promotes();
  await call("owner", "SessionService/UpdateSession", {
    sessionId: id,
    session: { capacity: 2 },
    updateMask: "capacity",
  });
  await page.getByRole("article", { name: title }).waitFor();
  await entry.waitFor({ state: "hidden" });
});

test("joins the waitlist for one of several sessions", async () => {
  const titles = ["Full Once", "Full Twice", "Full Thrice"] as const;
  const ids: string[] = [];
  for (const [hours, title] of titles.entries()) {
    const id = await makeSession(title, 7 * day + hours * hour, {
      capacity: 1,
      waitlistCapacity: 5,
    });
    await call("owner", "BookingService/Book", { sessionId: id });
    ids.push(id);
  }
  await using there = await visit({ ...phone, path: `/app/?date=${dateIn(7 * day)}` });
  const { page } = there;
  await page.getByRole("button", { name: `Join waitlist: ${titles[0]}` }).click();
  await page.getByRole("link", { name: "Wait for one of several sessions" }).click();
  await page.getByRole("heading", { name: "Wait for one of several sessions" }).waitFor();
  await expect(page.getByRole("checkbox", { name: titles[0] })).toBeChecked();
  await page.getByRole("checkbox", { name: titles[2] }).check();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Join waitlist for any of 2" }).click();
  await page.getByText("You are number 1 on the waitlist.").waitFor();
  await page.getByText("Any of 2 sessions").waitFor();

  // A seat opens in one of them: the member is promoted and leaves the other waitlists.
  await promotes();
  await call("owner", "SessionService/UpdateSession", {
    sessionId: ids[2],
    session: { capacity: 2 },
    updateMask: "capacity",
  });
  await page.getByText("Any of 2 sessions").waitFor({ state: "hidden" });
  await page.getByRole("article", { name: titles[2] }).waitFor();
  expect(await seatsTaken(ids[0] ?? "")).toBe(1);
});

test("reschedules a booking, and keeps it if the new session is full", async () => {
  const [from, to] = ["Moving Day", "Moved In"];
  const first = await makeSession(from, 9 * day, { capacity: 3 });
  const second = await makeSession(to, 9 * day + 2 * hour, { capacity: 1 });
  await call("member", "BookingService/Book", { sessionId: first });
  await using there = await visit({ ...phone, path: "/app/bookings" });
  const { page } = there;
  await page.getByRole("link", { name: `Reschedule: ${from}` }).click();
  await page.getByRole("heading", { name: "Reschedule your booking" }).waitFor();
  const target = page.getByRole("article", { name: to });
  await target.waitFor();
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await target.getByRole("button", { name: /^Select/ }).click();
  const sure = page.getByRole("dialog", { name: /^Reschedule to/ });
  await sure.getByText("You keep your current seat until you have the new one.").waitFor();
  // Another member books first.
  const { booking } = await call<{ booking: { id: string } }>("coach", "BookingService/Book", {
    sessionId: second,
  });
  await sure.getByRole("button", { name: "Reschedule" }).click();
  await page
    .getByRole("alert")
    .filter({ hasText: "cannot be rescheduled to this session" })
    .waitFor();
  expect(await seatsTaken(first)).toBe(1);
  await call("coach", "BookingService/CancelBooking", { bookingId: booking.id });
  await page.reload();
  await target.getByRole("button", { name: /^Select/ }).click();
  await sure.getByRole("button", { name: "Reschedule" }).click();
  await page.getByText(/^Rescheduled to/).waitFor();
  await page.getByRole("article", { name: to }).waitFor();
  expect([await seatsTaken(first), await seatsTaken(second)]).toEqual([0, 1]);
});

test("creates, renews and removes the calendar link", async () => {
  const title = "In My Diary";
  const id = await makeSession(title, 12 * day);
  await call("member", "BookingService/Book", { sessionId: id });
  await using there = await visit({ ...phone, path: "/app/me" });
  const { page, context } = there;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Create link" }).click();
  const field = page.getByLabel("Calendar link");
  await field.waitFor();
  const first = await field.inputValue();
  await page.getByRole("button", { name: "Copy" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(first);
  expect(await page.getByRole("link", { name: "Add to my calendar" }).getAttribute("href")).toMatch(
    /^webcal:/,
  );
  expect(await (await fetch(first)).text()).toContain(`SUMMARY:${title}`);
  expect(await violations(page)).toEqual([]);

  await page.getByRole("button", { name: "New link" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "New link" }).click();
  await expect.poll(() => field.inputValue()).not.toBe(first);
  const second = await field.inputValue();
  expect((await fetch(first)).status).toBe(404);
  expect((await fetch(second)).status).toBe(200);

  // The link is shown only once.
  await page.reload();
  await page.getByText("You have a calendar link").waitFor();
  await expect(field).toHaveCount(0);
  await page.getByRole("button", { name: "Remove link" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove link" }).click();
  await page.getByRole("button", { name: "Create link" }).waitFor();
  expect((await fetch(second)).status).toBe(404);
});

test("confirms a new email address with the code that is sent there", async () => {
  interface Outbox {
    readonly messages?: { readonly message: { readonly text: string } }[];
  }
  const address = "confirmed@example.com";
  const { member } = await call<{ member: { id: string } }>("admin", "MemberService/GetMe", {});
  const codes = async () => {
    const filter = { topic: "NOTIFICATION_TOPIC_CONTACT_CODE", memberId: member.id };
    const { messages = [] } = await call<Outbox>(
      "owner",
      "NotificationService/ListNotificationOutbox",
      {
        filter,
      },
    );
    return messages.map(({ message }) => /\b[0-9]{6}\b/.exec(message.text)?.[0] ?? "");
  };
  await using there = await visit({ ...phone, role: "admin", path: "/app/me" });
  const { page } = there;
  await page.getByLabel("Email", { exact: true }).fill(address);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(`${address} waits for confirmation.`, { exact: false }).waitFor();
  expect(await violations(page)).toEqual([]);
  await expect.poll(async () => (await codes()).length).toBeGreaterThan(0);
  const [code = ""] = await codes();
  const field = page.getByLabel(/^Code/);
  await field.fill(code === "000000" ? "111111" : "000000");
  await page.getByRole("button", { name: "Confirm", exact: true }).click();
  await page.getByText("The code is wrong. Attempts left: 4.").waitFor();
  await field.fill(code);
  await page.getByRole("button", { name: "Confirm", exact: true }).click();
  await page.getByText("Confirmed", { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel("Email", { exact: true }).inputValue()).toBe(address);

  await page.getByLabel("Email", { exact: true }).fill("discarded@example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Discard" }).click();
  await expect.poll(() => page.getByLabel(/^Code/).count()).toBe(0);
});

test.describe("checking in", () => {
  test("accepts the QR code of the check-in display, scanned by camera", async () => {
    const title = "Seen at Once";
    const id = await makeSession(title, 0.5 * hour, { capacity: 5 });
    await call("owner", "BookingService/Book", { sessionId: id });
    const { url } = await call<{ url: string }>("coach", "CheckInService/CreateDisplayLink", {
      sessionId: id,
    });
    const folder = await mkdtemp(join(tmpdir(), "berth-camera-"));
    try {
      const film = join(folder, "wall.y4m");
      await using wall = await visit({ path: "" });
      await wall.page.goto(url);
      const shown = wall.page.getByRole("img", { name: "QR code to check in" });
      await writeFile(film, await filmed(wall.page, await shown.screenshot()));
      // A camera that films the check-in display.
      await using camera = await openBrowser([`--use-file-for-fake-video-capture=${film}`]);
      await using there = await visit(
        { ...phone, role: "owner", path: `/app/checkin/${id}` },
        camera.browser,
      );
      await there.context.grantPermissions(["camera"]);
      await there.page.getByRole("button", { name: "Scan the QR code" }).click();
      await there.page.getByText("You are checked in").waitFor();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("accepts a GPS position near the location", async () => {
    const title = "Right Here";
    const id = await makeSession(title, 0.5 * hour, { capacity: 5 });
    await call("admin", "BookingService/Book", { sessionId: id });
    await using there = await visit({
      ...phone,
      role: "admin",
      path: `/app/checkin/${id}`,
      position: { latitude: 53.5437, longitude: 9.9668 },
    });
    await there.page.getByRole("button", { name: "Use GPS" }).click();
    await there.page.getByText("You are checked in").waitFor();
  });
});

/** A still image as a video for Chromium's fake camera: Y4M, 640 by 480, grayscale. */
async function filmed(page: Page, picture: Buffer): Promise<Buffer> {
  const [width, height] = [640, 480];
  const grey = await page.evaluate(
    async ([data, w, h]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(w, h);
      const context = canvas.getContext("2d");
      if (!context) throw new Error("there is no canvas");
      context.fillStyle = "#ddd";
      context.fillRect(0, 0, w, h);
      const side = h * 0.8;
      context.drawImage(image, (w - side) / 2, (h - side) / 2, side, side);
      const { data: pixels } = context.getImageData(0, 0, w, h);
      return Array.from({ length: w * h }, (_, at) => pixels[4 * at] ?? 0);
    },
    [picture.toString("base64"), width, height] as const,
  );
  const colour = Buffer.alloc((width * height) / 2, 128);
  return Buffer.concat([
    Buffer.from(`YUV4MPEG2 W${width} H${height} F15:1 Ip A1:1 C420jpeg\nFRAME\n`),
    Buffer.from(grey),
    colour,
  ]);
}
