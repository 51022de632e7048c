import { test } from "@playwright/test";
import { call, dateIn, hour, leave, makeSession, promotes, visit, withBrowser } from "./browser";

withBrowser();

test.describe("a booking", () => {
  test("is made, cancelled, passed to the waitlist and checked in", async () => {
    // Check-in is open within the hour before the start.
    const title = "Last Seat";
    const id = await makeSession(title, 0.6 * hour, { capacity: 1, waitlistCapacity: 2 });
    await using staff = await visit({ role: "coach", path: `/sessions/${id}` });
    await staff.page.getByRole("heading", { name: "No bookings yet" }).waitFor();

    // Staff book a member, and the session is full.
    await staff.page.getByRole("button", { name: "Book a member" }).click();
    const dialog = staff.page.getByRole("dialog", { name: "Book a member" });
    const first = { name: "Robin Rowan" };
    await call("owner", "MemberService/CreateMember", { member: first });
    await dialog
      .getByLabel(/^Member/)
      .filter({ visible: true })
      .first()
      .fill(first.name);
    await staff.page.getByRole("option", { name: first.name }).first().click();
    await dialog.getByRole("button", { name: "Book", exact: true }).click();
    await staff.page.getByText(`${first.name} is booked`).waitFor();
    await staff.page.getByText("1 of 1 taken").waitFor();

    // A member joins the waitlist and sees their position.
    await promotes();
    await using member = await visit({
      role: "member",
      path: `/app/?date=${dateIn(0.6 * hour)}`,
      width: 390,
      height: 844,
    });
    const offer = member.page.getByRole("article", { name: title });
    await offer.getByRole("button", { name: `Join waitlist: ${title}` }).click();
    await member.page
      .getByRole("dialog", { name: title })
      .getByRole("button", { name: "Join waitlist" })
      .click();
    await offer.getByText("Waitlist, no. 1").waitFor();
    await staff.page.getByRole("cell", { name: /Mona Member/ }).waitFor();

    // The booking is cancelled and the member promoted. Their page updates live.
    await using owner = await visit({ role: "owner", path: `/sessions/${id}` });
    await owner.page.getByRole("button", { name: `Actions: ${first.name}` }).click();
    await owner.page.getByRole("menuitem", { name: "Cancel booking" }).click();
    await owner.page.getByRole("dialog").getByRole("button", { name: "Cancel booking" }).click();
    await owner.page
      .getByText(/Booking cancelled/)
      .first()
      .waitFor();
    await offer.getByText("Booked").waitFor();

    // The member checks in with the code of the check-in display.
    await member.page.getByRole("link", { name: "My bookings" }).last().click();
    const ticket = member.page.getByRole("article", { name: title });
    await ticket.getByRole("link", { name: "Check in" }).click();
    await member.page.getByLabel("Code").fill("forged");
    await member.page.getByRole("button", { name: "Check in" }).click();
    await member.page.getByText("This QR code is outdated").waitFor();
    const { token } = await call<{ token: string }>("coach", "CheckInService/GetQrToken", {
      sessionId: id,
    });
    await member.page.getByLabel("Code").fill(token);
    await member.page.getByRole("button", { name: "Check in" }).click();
    await member.page.getByText("You are checked in").waitFor();
    await staff.page.getByText("1 of 1 checked in").waitFor();

    // Staff undo the check-in and check the member in.
    await staff.page.getByRole("button", { name: "Actions: Mona Member" }).click();
    await staff.page.getByRole("menuitem", { name: "Undo check-in" }).click();
    await staff.page.getByRole("button", { name: "Check in: Mona Member" }).click();
    await staff.page.getByText("by staff").waitFor();
    await leave(id);
  });

  test("is made, listed and cancelled by the member", async () => {
    const title = "Quiet Hour";
    await makeSession(title, 30 * hour, { capacity: 3 });
    await using there = await visit({ role: "member", path: `/app/?date=${dateIn(30 * hour)}` });
    const { page } = there;
    const offer = page.getByRole("article", { name: title });
    await offer.getByText("3 seats left").waitFor();
    await offer.getByRole("button", { name: `Book: ${title}` }).click();
    await page.getByRole("dialog", { name: title }).getByRole("button", { name: "Book" }).click();
    await offer.getByText("Booked").waitFor();
    await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: "My bookings" })
      .click();
    const ticket = page.getByRole("article", { name: title });
    await ticket.getByRole("button", { name: `Cancel booking: ${title}` }).click();
    const sure = page.getByRole("dialog", { name: `Cancel your booking for ${title}?` });
    await sure.getByRole("button", { name: "Cancel booking" }).click();
    await ticket.waitFor({ state: "hidden" });
  });

  test("is checked in by GPS only near the location", async () => {
    const title = "By the Pier";
    const id = await makeSession(title, 0.4 * hour);
    await call("coach", "BookingService/Book", { sessionId: id });
    await using far = await visit({
      role: "coach",
      path: `/app/checkin/${id}`,
      position: { latitude: 48.1, longitude: 11.6 },
    });
    await far.page.getByRole("button", { name: "Use GPS" }).click();
    await far.page.getByText(/You are \d+ m away/).waitFor();
  });
});
