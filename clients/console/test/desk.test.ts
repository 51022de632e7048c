import { expect, test } from "@playwright/test";
import {
  call,
  club,
  dateIn,
  day,
  hour,
  makeSession,
  violations,
  visit,
  withBrowser,
} from "./browser";

withBrowser();

const me = async () =>
  (await call<{ member: { id: string } }>("member", "MemberService/GetMe", {})).member.id;

test.describe("a tee time", () => {
  test("is held for a guest, confirmed with a payment, and released", async () => {
    const date = dateIn(2 * day, "Europe/London");
    await using there = await visit({
      role: "owner",
      tenant: club,
      path: `/tee-sheet?date=${date}`,
    });
    const { page } = there;
    const tee = page.getByRole("article").filter({ hasText: "4 seats open" }).first();
    await tee.waitFor();
    const clock = (await tee.locator("time").textContent()) ?? "";
    const mine = page
      .getByRole("article")
      .filter({ has: page.locator("time", { hasText: clock }) });
    await mine.getByRole("button", { name: `Hold a seat at ${clock}` }).click();
    const drawer = page.getByRole("dialog", { name: "Hold a seat" });
    await drawer.getByText("Guest", { exact: true }).click();
    await drawer.getByLabel("Name").fill("Vera Visitor");
    await drawer.getByLabel("People").fill("2");
    await drawer.getByLabel("Cart", { exact: true }).fill("1");
    expect(await violations(page)).toEqual([]);
    await drawer.getByRole("button", { name: "Hold", exact: true }).click();

    const held = page.getByRole("dialog", { name: "Held seat" });
    await held.getByText(/^9:\d\d$/).waitFor();
    await held.getByText("2 seats").waitFor();
    await mine.getByText("Vera Visitor × 2").waitFor();
    await held.getByText("Paid", { exact: true }).click();
    await held.getByLabel("Amount").fill("84.5");
    expect(await violations(page)).toEqual([]);
    await held.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Vera Visitor is booked").waitFor();
    await mine.getByText("2 seats open").waitFor();

    // Another hold is released: its seats are open again.
    await mine.getByRole("button", { name: `Hold a seat at ${clock}` }).click();
    await drawer.getByText("Guest", { exact: true }).click();
    await drawer.getByLabel("Name").fill("Willy Walker");
    await drawer.getByRole("button", { name: "Hold", exact: true }).click();
    await held.getByRole("button", { name: "Close" }).last().click();
    await mine.getByRole("button", { name: "Confirm: Willy Walker" }).click();
    await held.getByRole("button", { name: "Release" }).click();
    await page.getByText("Seat released").waitFor();
    await mine.getByText("Willy Walker").waitFor({ state: "hidden" });
    await mine.getByText("2 seats open").waitFor();
  });

  test("shows that another user has confirmed its hold", async () => {
    const id = await makeSession("Two Desks", 6 * day, { capacity: 3 });
    const { booking } = await call<{ booking: { id: string } }>(
      "owner",
      "BookingService/HoldBooking",
      { sessionId: id, contact: { name: "Shared Guest" } },
    );
    await using there = await visit({ role: "owner", path: `/sessions/${id}` });
    const { page } = there;
    await page.getByRole("button", { name: "Confirm: Shared Guest" }).click();
    const held = page.getByRole("dialog", { name: "Held seat" });
    await held.getByRole("button", { name: "Release" }).waitFor();
    await call("admin", "BookingService/ConfirmBooking", { bookingId: booking.id });
    await held.getByText("The booking is confirmed.").waitFor();
  });
});

test.describe("a booking", () => {
  test("is rescheduled and cancelled on the member's page", async () => {
    const [from, to] = await Promise.all([
      makeSession("Moved From", 3 * day, { capacity: 4 }),
      makeSession("Moved To", 3 * day + 2 * hour, { capacity: 4 }),
    ]);
    await call("member", "BookingService/Book", { sessionId: from });
    await using there = await visit({ role: "owner", path: `/members/${await me()}` });
    const { page } = there;
    const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
    await row("Moved From")
      .getByRole("button", { name: /^Actions/ })
      .click();
    await page.getByRole("menuitem", { name: "Reschedule" }).click();
    const dialog = page.getByRole("dialog", { name: "Reschedule Mona Member" });
    await dialog.getByText("Moved To").click();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Reschedule", exact: true }).click();
    await row("Moved To").waitFor();
    await row("Moved From").waitFor({ state: "hidden" });
    const { bookings = [] } = await call<{ bookings?: { memberName: string }[] }>(
      "coach",
      "BookingService/GetSessionRoster",
      { sessionId: to },
    );
    expect(bookings.map(({ memberName }) => memberName)).toEqual(["Mona Member"]);

    await row("Moved To")
      .getByRole("button", { name: /^Actions/ })
      .click();
    await page.getByRole("menuitem", { name: "Cancel booking" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel booking" }).click();
    await row("Moved To").waitFor({ state: "hidden" });
  });

  test("is rescheduled on the roster", async () => {
    const from = await makeSession("Roster From", 4 * day, { capacity: 4 });
    await makeSession("Roster To", 4 * day + 3 * hour, { capacity: 4 });
    await call("member", "BookingService/Book", { sessionId: from });
    await using there = await visit({ role: "owner", path: `/sessions/${from}` });
    const { page } = there;
    await page.getByRole("button", { name: "Actions: Mona Member" }).click();
    await page.getByRole("menuitem", { name: "Reschedule" }).click();
    const dialog = page.getByRole("dialog", { name: "Reschedule Mona Member" });
    await dialog.getByText("Roster To").click();
    await dialog.getByRole("button", { name: "Reschedule", exact: true }).click();
    await page.getByRole("heading", { name: "No bookings yet" }).waitFor();
  });

  test("raises the capacity of a full session, for those who may", async () => {
    const id = await makeSession("Full House", 5 * day, { capacity: 1, waitlistCapacity: 2 });
    await call("member", "BookingService/Book", { sessionId: id });
    await using there = await visit({ role: "owner", path: `/sessions/${id}` });
    const { page } = there;
    await page.getByRole("button", { name: "Book a member" }).click();
    const dialog = page.getByRole("dialog", { name: "Book a member" });
    const guest = { name: "Greta Grouse" };
    await call("owner", "MemberService/CreateMember", { member: guest });
    await dialog
      .getByLabel(/^Member/)
      .filter({ visible: true })
      .first()
      .fill(guest.name);
    await page.getByRole("option", { name: guest.name }).first().click();
    await expect(dialog.getByRole("radio", { name: "Phone" })).toBeChecked();
    await dialog.getByLabel("Raise the capacity for this booking").check();
    await dialog.getByLabel(/waitlist/i).waitFor({ state: "hidden" });
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Book", exact: true }).click();
    await page.getByText(/is booked$/).waitFor();
    const { session } = await call<{ session: { capacity: number; seatsTaken: number } }>(
      "owner",
      "SessionService/GetSession",
      { sessionId: id },
    );
    expect([session.capacity, session.seatsTaken]).toEqual([2, 2]);
    const { bookings } = await call<{ bookings: { memberName: string; channel: string }[] }>(
      "owner",
      "BookingService/GetSessionRoster",
      { sessionId: id },
    );
    const booked = bookings.find(({ memberName }) => memberName === guest.name);
    expect(booked?.channel).toBe("BOOKING_CHANNEL_PHONE");
  });

  test("is paid at the desk, and its payment refunded", async () => {
    const id = await makeSession("Paid Later", 8 * day, { capacity: 4 });
    await call("member", "BookingService/Book", { sessionId: id });
    await using there = await visit({ role: "owner", path: `/sessions/${id}` });
    const { page } = there;
    const panel = page.getByRole("dialog", { name: "Payment" });
    const open = async () => {
      await panel.waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Actions: Mona Member" }).click();
      await page.getByRole("menuitem", { name: "Payment" }).click();
    };
    await open();
    await panel.getByText("No payment has been recorded.").waitFor();
    await panel.getByLabel("Amount").fill("25");
    await panel.getByLabel("Reference").fill("R-17");
    await panel.getByLabel("More than is due, such as a tip").check(); // a plan has paid
    expect(await violations(page)).toEqual([]);
    await panel.getByRole("button", { name: "Record payment" }).click();
    await page.getByText("Payment recorded").waitFor();

    await open();
    await panel.getByRole("row", { name: /Capture.*R-17.*€25\.00/ }).waitFor();
    await panel.getByText("Refund", { exact: true }).first().click();
    await panel.getByLabel("Amount").fill("10");
    // The refund is recorded, but its answer is lost. Another click is the same refund.
    await page.route("**/berth.v1.BookingService/RefundPayment", async (route) => {
      await route.fetch();
      await route.fulfill({
        status: 500,
        contentType: "application/json",
        body: '{"code":"internal"}',
      });
    });
    await panel.getByRole("button", { name: "Refund" }).click();
    await panel.getByRole("alert").waitFor();
    await page.unrouteAll();
    await panel.getByRole("button", { name: "Refund" }).click();
    await page.getByText("Refund recorded").waitFor();
    await open();
    const refunds = panel.getByRole("row", { name: /Refund.*€10\.00/ });
    await refunds.first().waitFor();
    await expect(refunds).toHaveCount(1);
  });
});

test("adds a member to the waitlist for a time window, and removes them", async () => {
  await using there = await visit({ role: "owner", path: `/members/${await me()}` });
  const { page } = there;
  await page.getByRole("button", { name: "Wait for a time window" }).click();
  const dialog = page.getByRole("dialog", { name: "Waitlist for a time window: Mona Member" });
  await dialog.getByLabel("Service").click();
  await page.getByRole("option", { name: "Barbell Basics" }).click();
  await dialog.getByLabel("Location").click();
  await page.getByRole("option", { name: "Riverside" }).click();
  await dialog.getByText(/Times in Europe\/Lisbon/).waitFor();
  await dialog.getByLabel("Starts after").fill("03:00");
  await dialog.getByLabel("Starts before").fill("04:30");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add to waitlist" }).click();
  const row = page.getByRole("row", { name: /Barbell Basics/ });
  await row.getByText("03:00–04:30").waitFor();
  await row.getByText("Riverside").waitFor();
  await row.getByRole("button", { name: "Remove from waitlist" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove from waitlist" }).click();
  await row.waitFor({ state: "hidden" });
});

test("shows a member's devices and notification preferences", async () => {
  await call("member", "MemberService/RegisterDevice", { kind: "DEVICE_KIND_ANDROID", token: "a" });
  await using there = await visit({ role: "coach", path: `/members/${await me()}?tab=messages` });
  const { page } = there;
  await page.getByText("Android").waitFor();
  await page.getByRole("row", { name: /Booking confirmed/ }).waitFor();
  await page.getByText("Members choose this in their app.").waitFor();
});

test("edits a workout for all its sessions, and deletes it", async () => {
  const id = await makeSession("Planned Again", 5 * day + 3 * hour);
  const { workout } = await call<{ workout: { id: string } }>(
    "coach",
    "WorkoutService/CreateWorkout",
    { workout: { name: "Rowing", body: "- 500 m" } },
  );
  await call("coach", "WorkoutService/SetWorkouts", { sessionId: id, workoutIds: [workout.id] });
  await using there = await visit({ role: "coach", path: "/workouts" });
  const { page } = there;
  await page.getByRole("button", { name: /Rowing/ }).click();
  const drawer = page.getByRole("dialog", { name: "Rowing" });
  await drawer.getByText("500 m").waitFor();
  await drawer.getByRole("button", { name: "Edit" }).click();
  await drawer.getByLabel("Name").fill("Rowing, long");
  await call("admin", "WorkoutService/UpdateWorkout", {
    workoutId: workout.id,
    workout: { body: "- 2000 m" },
    updateMask: "body",
  });
  await drawer.getByRole("button", { name: "Save" }).click();
  await drawer
    .getByRole("alert")
    .filter({ hasText: "Someone else changed this" })
    .getByRole("definition")
    .filter({ hasText: "2000 m" })
    .waitFor();
  expect(await violations(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Save" }).click();
  const card = page.getByRole("button", { name: /Rowing, long/ });
  await card.filter({ hasText: "2000 m" }).click();
  const edited = page.getByRole("dialog", { name: "Rowing, long" });
  await edited.getByRole("button", { name: "Edit" }).click();
  await edited.getByRole("button", { name: "Delete workout" }).click();
  await page
    .getByRole("dialog", { name: "Delete Rowing, long?" })
    .getByRole("button", { name: "Delete workout" })
    .click();
  await card.waitFor({ state: "hidden" });

  await page.goto(new URL(`/sessions/${id}`, page.url()).href);
  await page.getByRole("button", { name: "Rowing, long", exact: true }).click();
  const kept = page.getByRole("dialog", { name: "Rowing, long" });
  await kept.getByText("Deleted").waitFor();
  await expect(kept.getByRole("button", { name: "Edit" })).toHaveCount(0);
});

test("creates workouts, attaches them to a session, and writes an inline one", async () => {
  const id = await makeSession("Planned", 5 * day);
  await using there = await visit({ role: "coach", path: "/workouts" });
  const { page } = there;
  await page.getByRole("button", { name: "New workout" }).click();
  const form = page.getByRole("dialog", { name: "New workout" });
  await form.getByLabel("Name").fill("Squat Day");
  await form.getByLabel("Content").fill("# Main\n- **5×5** squats\n- Rest");
  await form.getByText("Preview").click();
  await form.getByRole("heading", { name: "Main" }).waitFor();
  await form.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: /Squat Day/ }).waitFor();

  await page.goto(new URL(`/sessions/${id}`, page.url()).href);
  await page.getByRole("button", { name: "Attach", exact: true }).click();
  await page.getByRole("menuitem", { name: "Attach a workout" }).click();
  const attach = page.getByRole("dialog", { name: "Attach a workout" });
  await attach.getByLabel("Workouts").click();
  await page.getByRole("option", { name: "Squat Day" }).click();
  await attach.getByRole("button", { name: "Attach" }).click();
  await attach.waitFor({ state: "hidden" }); // it has a button of the same name
  await page.getByRole("button", { name: "Squat Day", exact: true }).waitFor();

  await page.getByRole("button", { name: "Attach", exact: true }).click();
  await page.getByRole("menuitem", { name: "Write one for this session" }).click();
  const inline = page.getByRole("dialog", { name: "Write one for this session" });
  await inline.getByLabel("Name").fill("Only Today");
  // The list is up to date before the session is: the user goes on with the list.
  await page.route(/SessionService\/GetSession/, () => undefined);
  await inline.getByRole("button", { name: "Create" }).click();
  await page.getByText("this session only", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Move Only Today up" }).click();
  await page.getByRole("button", { name: "Move Squat Day up" }).waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Remove: Only Today" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Only Today", exact: true }).waitFor({ state: "hidden" });
});
