import { expect, test } from "@playwright/test";
import { at, berth, call, day, makeSession, violations, visit, withBrowser } from "./browser";

withBrowser();

type WithId<K extends string> = Record<K, { id: string }>;

/** A service of its own whose offers pause at no hour, with a full session for which people wait. */
async function fullSession(title: string, startsIn: number, waiting: readonly string[]) {
  const { service } = await call<WithId<"service">>("owner", "CatalogService/CreateService", {
    service: { name: title, duration: "3600s", defaultCapacity: 1, defaultWaitlistCapacity: 9 },
  });
  await call("owner", "WaitlistService/UpdateWaitlistRules", {
    serviceId: service.id,
    rules: { mode: "WAITLIST_MODE_OFFER", offersInQuietHours: true },
    updateMask: "mode,offersInQuietHours",
  });
  const sessionId = await makeSession(title, startsIn, { serviceId: service.id, capacity: 1 });
  const member = async (name: string) => {
    const made = await call<WithId<"member">>("owner", "MemberService/CreateMember", {
      member: { name, email: `${name.toLowerCase().replaceAll(" ", ".")}@example.com` },
    });
    return made.member.id;
  };
  const { booking } = await call<WithId<"booking">>("owner", "BookingService/Book", {
    sessionId,
    memberId: await member(`${title} Holder`),
  });
  for (const name of waiting) {
    await call("owner", "WaitlistService/JoinWaitlist", {
      sessionId,
      memberId: await member(name),
    });
  }
  return { sessionId, serviceId: service.id, bookingId: booking.id };
}

const audited = async (action: string) => {
  const { entries } = await call<{ entries: { reason: string }[] }>(
    "owner",
    "AuditService/ListAuditEntries",
    { filter: { action } },
  );
  return entries.map(({ reason }) => reason);
};

test("staff order the waitlist, watch offers, and see what is left to do", async () => {
  const { sessionId, serviceId, bookingId } = await fullSession("Rope Flow", 9 * day, [
    "Bea Before",
    "Cid Caller",
  ]);
  await using there = await visit({ role: "owner", path: `/waitlist?service=${serviceId}` });
  const { page } = there;
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  const act = async (name: string, what: string) => {
    await page.getByRole("button", { name: `Actions: ${name}` }).click();
    await page.getByRole("menuitem", { name: what, exact: true }).click();
  };
  await row("Bea Before").getByText("No. 1").waitFor();
  await row("Cid Caller").getByText("No. 2").waitFor();
  await row("Cid Caller").getByText("Rope Flow").waitFor();
  expect(await violations(page)).toEqual([]);

  await act("Cid Caller", "Move");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("Came by in person");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Move" }).click();
  await row("Cid Caller").getByText("No. 1").waitFor();
  expect(await audited("waitlist_entry.moved")).toContain("Came by in person");

  await act("Bea Before", "Priority");
  await dialog.getByRole("switch", { name: "Ahead of everyone else" }).click();
  await dialog.getByLabel("Reason").fill("Comes from afar");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row("Bea Before").getByLabel("Prioritized by staff").waitFor();
  await row("Bea Before").getByText("No. 1").waitFor();

  // A seat is freed: the first has an offer, which staff decline for them. So does the next.
  await call("owner", "BookingService/CancelBooking", { bookingId, overrideWindow: true });
  await row("Bea Before").getByText("Offered a seat").waitFor();
  await page.getByRole("tab", { name: "Offers" }).click();
  await row("Bea Before").getByRole("timer").waitFor();
  expect(await violations(page)).toEqual([]);
  await act("Bea Before", "Decline for them");
  await dialog.getByLabel("Reason").fill("Called back");
  await dialog.getByRole("button", { name: "Decline for them" }).click();
  await row("Cid Caller").getByText("offer no. 2 of these seats").waitFor();
  await act("Cid Caller", "Withdraw offer");
  await dialog.getByRole("button", { name: "Withdraw offer" }).click();
  await page.getByText("No offers").waitFor();

  // Nobody takes the seat: that is for staff, until they give it to somebody.
  await page.getByRole("tab", { name: "To do" }).click();
  await row("Rope Flow").getByText("1 open").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("tab", { name: "Waiting" }).click();
  await act("Bea Before", "Offer a seat");
  await expect(dialog.getByLabel("Session with open seats")).toHaveValue(/Rope Flow/);
  await dialog.getByLabel("Reason").fill("Changed their mind");
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Offer a seat" }).click();
  await row("Bea Before").getByRole("timer").waitFor();
  await page.getByRole("tab", { name: "Offers" }).click();
  await row("Bea Before").getByText("by staff").waitFor();
  await act("Bea Before", "Accept for them");
  await dialog.getByRole("button", { name: "Accept for them" }).click();
  await page.getByText("No offers").waitFor();
  const { bookings } = await call<{ bookings: { memberName: string }[] }>(
    "owner",
    "BookingService/ListBookings",
    { scope: "LIST_SCOPE_ALL", filter: { sessionId, statuses: ["BOOKING_STATUS_CONFIRMED"] } },
  );
  expect(bookings.map(({ memberName }) => memberName)).toEqual(["Bea Before"]);

  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("A booking was cancelled").waitFor();
  await page.getByText("An offer was declined").waitFor();
  await page.getByRole("button", { name: "Show more: Rope Flow" }).first().click();
  expect(await violations(page)).toEqual([]);

  // The day narrows all tabs.
  const other = at(3 * day)
    .toISOString()
    .slice(0, 10);
  await page.goto(`${berth().address}/waitlist?service=${serviceId}&date=${other}&status=3`);
  await page.getByText("Nobody waits here").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("tab", { name: "History" }).waitFor();
});
