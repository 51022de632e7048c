import { expect, test } from "@playwright/test";
import { at, call, dateIn, day, limit, makeSession, visit, withBrowser } from "./browser";

withBrowser();

test.describe("the schedule", () => {
  test("publishes drafts after a preview", async () => {
    const { locations } = await call<{ locations: { id: string; name: string }[] }>(
      "owner",
      "CatalogService/ListLocations",
      {},
    );
    const { services } = await call<{ services: { id: string }[] }>(
      "owner",
      "CatalogService/ListServices",
      {},
    );
    const [year, month, date] = dateIn(42 * day)
      .split("-")
      .map(Number);
    await call("owner", "SessionService/CreateSeries", {
      series: {
        serviceId: services[0]?.id,
        locationId: locations.find(({ name }) => name === "Harbour")?.id,
        title: "Dawn Patrol",
        rule: "FREQ=DAILY;COUNT=3",
        startDate: { year, month, day: date },
        startTimeOfDay: { hours: 6 },
      },
    });
    await using there = await visit({ role: "owner", path: `/?date=${dateIn(42 * day)}&view=day` });
    const { page } = there;
    await page.getByRole("button", { name: "Publish 1 draft" }).click();
    const drawer = page.getByRole("dialog", { name: "Bulk actions" });
    await drawer.getByRole("heading", { name: "1 session will be affected" }).waitFor();
    await expect(drawer.getByRole("cell", { name: "Dawn Patrol" })).toHaveCount(1);
    await drawer.getByRole("button", { name: "Publish 1 session" }).click();
    await page.getByText("1 session published").waitFor();
    await page
      .getByRole("link", { name: /Dawn Patrol/ })
      .filter({ hasNotText: "Draft" })
      .waitFor();
    await page.getByRole("button", { name: "Bulk actions" }).waitFor();
  });

  test("creates a series on the same weekday of each month", async () => {
    await using there = await visit({ role: "owner", path: `/?date=${dateIn(49 * day)}&view=day` });
    const { page } = there;
    await page.getByRole("button", { name: "New session" }).click();
    const form = page.getByRole("dialog", { name: "New session" });
    await form.getByLabel("Service").first().click();
    await page.getByRole("option", { name: "Yin" }).click();
    await form.getByLabel("Title").fill("Once in a Moon");
    await form.getByLabel("Start").fill("05:00");
    await form.getByRole("switch", { name: "Repeats" }).click();
    await form.getByText("Monthly", { exact: true }).click();
    await form.getByLabel("Day of the month").first().click();
    await page.getByRole("option", { name: /^On the (first|second|third|fourth|fifth) / }).click();
    await form.getByLabel("Number of sessions").fill("3");
    await form.getByRole("button", { name: "Create 3 sessions" }).click();
    await form.waitFor({ state: "hidden" });
    const { sessions } = await call<{ sessions: { title: string; startTime: string }[] }>(
      "owner",
      "SessionService/ListSessions",
      {
        filter: {
          startsWithin: {
            start: new Date(Date.now() + 40 * day).toISOString(),
            end: new Date(Date.now() + 240 * day).toISOString(),
          },
        },
        pageSize: 500,
      },
    );
    const days = sessions
      .filter(({ title }) => title === "Once in a Moon")
      .map(({ startTime }) => new Date(startTime));
    expect(days).toHaveLength(3);
    const which = days.map((at) => [at.getUTCDay(), Math.ceil(at.getUTCDate() / 7)]);
    expect(new Set(which.map(String)).size).toBe(1);
  });

  test("returns from a session to the same days and view", async () => {
    await makeSession("There and Back", 50 * day);
    const address = `/?view=day&by=resource&date=${dateIn(50 * day)}`;
    await using there = await visit({ role: "owner", path: address });
    const { page } = there;
    await page.getByRole("link", { name: /There and Back/ }).click();
    await page.getByRole("heading", { name: /There and Back/ }).waitFor();
    expect(await page.title()).toMatch(/^There and Back · /);
    await page.getByRole("main").getByRole("link", { name: "Schedule" }).click();
    await page.getByRole("link", { name: /There and Back/ }).waitFor();
    expect(new URL(page.url()).search).toBe(new URL(address, page.url()).search);
    expect(await page.title()).toMatch(/^Schedule · /);
  });

  test("creates a session and moves it with mouse and keyboard", async () => {
    await using there = await visit({ role: "owner", path: `/?date=${dateIn(45 * day)}` });
    const { page } = there;
    await page.getByRole("button", { name: "New session" }).click();
    const form = page.getByRole("dialog", { name: "New session" });
    await form
      .getByRole("combobox", { name: "Service" })
      .or(form.getByLabel("Service"))
      .first()
      .click();
    await page.getByRole("option", { name: "Yin" }).click();
    await form.getByLabel("Title").fill("Handmade");
    await form.getByLabel("Start").fill("13:00");
    await form.getByRole("button", { name: "Create" }).click();
    const slot = page.getByRole("link", { name: /Handmade/ });
    await slot.waitFor();
    await form.waitFor({ state: "hidden" });
    await slot.scrollIntoViewIfNeeded();
    const box = await slot.boundingBox();
    if (!box) throw new Error("the session is not shown");
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 22, box.y + 60, { steps: 4 });
    await page.mouse.move(box.x + 22, box.y + 10 + 56 * 2, { steps: 6 });
    await page.mouse.up();
    await page
      .getByRole("link", { name: /Handmade/ })
      .filter({ hasText: "15:00" })
      .waitFor();
    await page.getByText(/Handmade was moved to/).waitFor();
    await slot.focus();
    await page.keyboard.press("Alt+ArrowUp");
    await page
      .getByRole("link", { name: /Handmade/ })
      .filter({ hasText: "14:45" })
      .waitFor();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page
      .getByRole("link", { name: /Handmade/ })
      .filter({ hasText: "15:00" })
      .waitFor();
  });

  test("moves sessions between coaches on the board", async () => {
    const { members } = await call<{ members: { id: string; name: string }[] }>(
      "owner",
      "MemberService/ListMembers",
      { filter: { role: "coach" } },
    );
    const [one, two] = members;
    if (!one || !two) throw new Error("the demo data have changed");
    const title = "Handed Over";
    await makeSession(title, 52 * day, { coachId: one.id });
    await using there = await visit({ role: "owner", path: `/?date=${dateIn(52 * day)}&by=coach` });
    const { page } = there;
    const line = (name: string) => page.getByRole("row", { name });
    const chip = (name: string) => line(name).getByRole("link", { name: title });
    await chip(one.name).waitFor();
    const before = await chip(one.name).locator("xpath=ancestor::td").getAttribute("data-day");
    const from = await chip(one.name).boundingBox();
    const to = await line(two.name).locator(`td[data-day="${before}"]`).boundingBox();
    if (!from || !to) throw new Error("the board is not shown");
    await page.mouse.move(from.x + 20, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(from.x + 22, from.y + 40, { steps: 4 });
    await page.mouse.move(to.x + 30, to.y + 20, { steps: 6 });
    await page.mouse.up();
    await chip(two.name).waitFor();
    // With the keyboard: to another day and back.
    const [back, forth] =
      dateIn(52 * day) === before && new Date(`${before}T12:00:00Z`).getUTCDay() === 0
        ? ["Alt+ArrowRight", "Alt+ArrowLeft"]
        : ["Alt+ArrowLeft", "Alt+ArrowRight"];
    await chip(two.name).focus();
    await page.keyboard.press(forth);
    await line(two.name).locator(`td:not([data-day="${before}"]) a`, { hasText: title }).waitFor();
    await chip(two.name).focus();
    await page.keyboard.press(back);
    await line(two.name).locator(`td[data-day="${before}"] a`, { hasText: title }).waitFor();
  });

  test("changes the weekdays of a series from a session on", async () => {
    const { locations } = await call<{ locations: { id: string; name: string }[] }>(
      "owner",
      "CatalogService/ListLocations",
      {},
    );
    const { services } = await call<{ services: { id: string }[] }>(
      "owner",
      "CatalogService/ListServices",
      {},
    );
    const monday = at(84 * day);
    monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
    const date = monday.toISOString().slice(0, 10);
    const [year, month, dayOfMonth] = date.split("-").map(Number);
    const { sessionIds } = await call<{ sessionIds: string[] }>(
      "owner",
      "SessionService/CreateSeries",
      {
        series: {
          serviceId: services[0]?.id,
          locationId: locations.find(({ name }) => name === "Harbour")?.id,
          title: "Shifting",
          rule: "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6",
          startDate: { year, month, day: dayOfMonth },
          startTimeOfDay: { hours: 6 },
        },
        publish: true,
      },
    );
    await using there = await visit({ role: "owner", path: `/sessions/${sessionIds[2]}` });
    const { page } = there;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByText("This and following").click();
    await form.getByRole("switch", { name: "Change how it repeats" }).click();
    await form.getByText("Fri", { exact: true }).click();
    await form.getByText("Wed", { exact: true }).click();
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "hidden" });
    const { sessions } = await call<{ sessions: { title: string; localDate: { day: number } }[] }>(
      "owner",
      "SessionService/ListSessions",
      {
        filter: {
          startsWithin: {
            start: `${date}T00:00:00Z`,
            end: new Date(Date.parse(date) + 21 * day).toISOString(),
          },
          statuses: ["SESSION_STATUS_PUBLISHED"],
        },
        pageSize: 500,
      },
    );
    const days = sessions
      .filter(({ title }) => title === "Shifting")
      .map(({ localDate }) => localDate.day);
    const on = (offset: number) => new Date(Date.parse(date) + offset * day).getUTCDate();
    expect(days.slice(0, 4)).toEqual([on(0), on(2), on(7), on(11)]);
  });

  test("shows a week of 300 sessions in less than a second", async () => {
    const { location } = await call<{ location: { id: string } }>(
      "owner",
      "CatalogService/CreateLocation",
      {
        location: { name: "Zeppelin Hall", timeZone: "Europe/Berlin" },
      },
    );
    const { services } = await call<{ services: { id: string }[] }>(
      "owner",
      "CatalogService/ListServices",
      {},
    );
    const monday = at(70 * day);
    monday.setUTCDate(monday.getUTCDate() - ((monday.getUTCDay() + 6) % 7));
    const [year = 0, month = 0, date = 0] = monday
      .toISOString()
      .slice(0, 10)
      .split("-")
      .map(Number);
    const hours = Array.from({ length: 14 }, (_, n) => n + 7).join(",");
    await call("owner", "SessionService/CreateSeries", {
      series: {
        serviceId: services[0]?.id,
        locationId: location.id,
        title: "Crowd",
        rule: `FREQ=DAILY;BYHOUR=${hours};BYMINUTE=0,20,40;COUNT=294`,
        startDate: { year, month, day: date },
        startTimeOfDay: { hours: 7 },
      },
    });
    const before = new Date(monday.getTime() - 7 * day).toISOString().slice(0, 10);
    await using there = await visit({
      role: "owner",
      path: `/?location=${location.id}&date=${before}`,
    });
    const { page } = there;
    await page.getByText("No sessions scheduled").waitFor();
    const took = await page.evaluate(async () => {
      const begun = performance.now();
      document.querySelector<HTMLButtonElement>('button[aria-label="Next"]')?.click();
      await new Promise<void>((done) => {
        const look = () =>
          document.querySelectorAll('a[href^="/sessions/"]').length === 294
            ? done()
            : requestAnimationFrame(look);
        look();
      });
      // Wait until the browser is idle.
      await new Promise((done) => setTimeout(done));
      return performance.now() - begun;
    });
    process.stdout.write(`a week of 294 sessions: ${took.toFixed(0)} ms\n`);
    expect(took).toBeLessThan(limit(1000));
  });
});

test.describe("concurrent edits", () => {
  test("show the conflict and lose nothing", async () => {
    const id = await makeSession("Contested", 8 * day, { capacity: 5 });
    await using there = await visit({ role: "owner", path: `/sessions/${id}` });
    const { page } = there;
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByLabel("Description").fill("Bring a towel.");
    await call("admin", "SessionService/UpdateSession", {
      sessionId: id,
      session: { title: "Settled" },
      updateMask: "title",
    });
    await form.getByRole("button", { name: "Save" }).click();
    const told = form.getByRole("alert").filter({ hasText: "Someone else changed this" });
    await told.getByText("Settled").waitFor();
    await expect(form.getByLabel("Description")).toHaveValue("Bring a towel.");
    await expect(form.getByLabel("Title")).toHaveValue("Settled");
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "hidden" }); // the text is in the form, too
    await page.getByText("Bring a towel.").waitFor();
    await page.getByRole("heading", { name: /Settled/ }).waitFor();
  });
});

test.describe("without a connection", () => {
  test("keeps typed text and shows the connection banner", async () => {
    const id = await makeSession("Stormy", 9 * day);
    await using there = await visit({ role: "owner", path: `/sessions/${id}` });
    const { page, complaints, context } = there;
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByLabel("Title").fill("Calm again");
    await context.setOffline(true);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("No connection.").waitFor();
    await form.getByRole("alert").waitFor(); // until then it is sent again by itself
    await expect(form.getByLabel("Title")).toHaveValue("Calm again");
    await context.setOffline(false);
    await page.getByText("No connection.").waitFor({ state: "hidden" });
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /Calm again/ }).waitFor();
    // The browser logs every call that failed to connect.
    complaints.splice(
      0,
      complaints.length,
      ...complaints.filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED")),
    );
  });

  test("asks to sign in again without losing the page", async () => {
    const id = await makeSession("Long Night", 10 * day);
    await using there = await visit({ role: "owner", path: `/sessions/${id}` });
    const { page, complaints } = there;
    await page.getByRole("button", { name: "Edit" }).click();
    const form = page.getByRole("dialog", { name: "Edit" });
    await form.getByLabel("Title").fill("Next Morning");
    const refuse = {
      status: 401,
      contentType: "application/json",
      body: '{"code":"unauthenticated"}',
    };
    await page.route("**/dev/token", (route) => route.fulfill({ status: 503 }));
    // Only this call: any other that is refused would ask before the form is sent.
    await page.route("**/UpdateSession", (route) => route.fulfill(refuse));
    await form.getByRole("button", { name: "Save" }).click();
    const again = page.getByRole("dialog", { name: "Please sign in again" });
    await again.waitFor();
    await page.unrouteAll();
    await again.getByRole("button", { name: "Sign in again" }).click();
    await again.waitFor({ state: "hidden" });
    await expect(form.getByLabel("Title")).toHaveValue("Next Morning");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /Next Morning/ }).waitFor();
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes("503")));
  });
});
