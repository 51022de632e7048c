import { expect, type Page, test } from "@playwright/test";
import { at, call, day, hour, type Role, salon, violations, visit, withBrowser } from "./browser";

withBrowser();

// These tests use the salon, which no other test file uses. Each has a location and rules of its
// own.

interface Named {
  readonly id: string;
  readonly name: string;
}

const ofSalon = <T>(method: string, body: object, role: Role = "owner") =>
  call<T>(role, method, body, salon);

async function createLocation(name: string) {
  const { location } = await ofSalon<{ location: Named }>("CatalogService/CreateLocation", {
    location: { name },
  });
  return location.id;
}

async function createService(name: string) {
  const { service } = await ofSalon<{ service: Named }>("CatalogService/CreateService", {
    service: { name, duration: "1800s" },
  });
  return service.id;
}

/**
 * A session with one seat, booked by Cleo. Ada is first on the waitlist, then Mona, who is gold.
 */
async function createWaitlist(locationId: string, serviceId: string, startsIn: number) {
  const { session } = await ofSalon<{ session: { id: string } }>("SessionService/CreateSession", {
    session: {
      serviceId,
      locationId,
      title: "Fringe",
      startTime: at(startsIn).toISOString(),
      capacity: 1,
      waitlistCapacity: 5,
    },
    publish: true,
  });
  const sessionId = session.id;
  const { booking } = await ofSalon<{ booking: { id: string } }>(
    "BookingService/Book",
    { sessionId },
    "coach",
  );
  await ofSalon("BookingService/Book", { sessionId }, "admin");
  await ofSalon("BookingService/Book", { sessionId }, "member");
  const { member } = await ofSalon<{ member: { id: string } }>("MemberService/GetMe", {}, "member");
  await ofSalon("MemberService/UpdateMember", {
    memberId: member.id,
    member: { tier: "gold" },
    updateMask: "tier",
  });
  return { sessionId, bookingId: booking.id };
}

interface Offers {
  readonly offers: readonly { memberName: string; status: string; expireTime: string }[];
}

interface Versions {
  readonly versions?: readonly { version: number }[];
}

interface Rules {
  readonly effective: { rules: Record<string, unknown> };
}

/** Controls of the rules page. */
function onRules(page: Page) {
  const setting = (field: string) => page.locator(`[data-setting="${field}"]`);
  return {
    setting,
    /** Overrides an inherited setting. */
    override: (field: string) =>
      setting(field)
        .getByRole("button", { name: /^Override/ })
        .click(),
    type: (field: string, value: string) => setting(field).getByRole("textbox").first().fill(value),
    typed: (field: string) => setting(field).getByRole("textbox").first().inputValue(),
    look: async (at: string) => {
      await page.getByRole("combobox", { name: "Applies to" }).click();
      await page.getByRole("option", { name: at }).click();
    },
    save: async (reason?: string) => {
      if (reason) await page.getByRole("textbox", { name: "Reason" }).fill(reason);
      await page.getByRole("button", { name: "Save" }).click();
    },
    saved: () => page.getByRole("button", { name: "Save" }).waitFor({ state: "hidden" }),
  };
}

test.describe("the waitlist rules", () => {
  test("are edited, corrected, tested and saved with a reason", async () => {
    const [locationId, serviceId] = await Promise.all([
      createLocation("Mirror Row"),
      createService("Fringe"),
    ]);
    await ofSalon("WaitlistService/UpdateWaitlistRules", {
      locationId,
      rules: { mode: "WAITLIST_MODE_OFFER", offersInQuietHours: true },
      updateMask: "mode,offersInQuietHours",
      reason: "To begin with",
    });
    const { sessionId, bookingId } = await createWaitlist(locationId, serviceId, 4 * day);
    await ofSalon("BookingService/CancelBooking", { bookingId });
    const kept = () =>
      Promise.all([
        ofSalon<Versions>("WaitlistService/ListWaitlistRulesVersions", { filter: { locationId } }),
        ofSalon<Offers>("WaitlistService/ListWaitlistOffers", { filter: { sessionId } }),
        ofSalon<Rules>("WaitlistService/GetWaitlistRules", { locationId }),
      ]);
    const before = await kept();
    expect(before[1].offers.map(({ memberName, status }) => [memberName, status])).toEqual([
      ["Ada Admin", "WAITLIST_OFFER_STATUS_LIVE"],
    ]);

    await using there = await visit({
      role: "owner",
      tenant: salon,
      path: `/waitlist-rules?for=location:${locationId}`,
    });
    const { page } = there;
    const { setting, override, type, typed, save, saved } = onRules(page);
    await override("offerWindow");
    await type("offerWindow", "45");
    await override("tierBonuses");
    await setting("tierBonuses").getByRole("button", { name: "Add a tier" }).click();
    await setting("tierBonuses").getByRole("textbox", { name: "Tier", exact: true }).fill("gold");
    await override("maxQueueSize");
    await type("maxQueueSize", "0");
    await override("eligibilityExpression");
    await type("eligibilityExpression", 'entry.party_size > 0 &&\n  member.teir == "gold"');
    await setting("maxQueueSize").getByText("Must be between 1 and 10000.").waitFor();

    // Out-of-range values are reported before anything is sent.
    await save("Gold members come first");
    await page.waitForFunction(() =>
      document.activeElement?.closest("[data-setting=maxQueueSize]"),
    );
    await type("maxQueueSize", "20");
    await setting("maxQueueSize").getByRole("alert").waitFor({ state: "hidden" });

    // A compile error is shown at its field with its position, and the input stays.
    await save();
    const wrong = setting("eligibilityExpression").getByRole("alert");
    await wrong.getByText(/^Line 2, column \d+: undeclared reference.*member\.tier/).waitFor();
    await page.waitForFunction(() =>
      document.activeElement?.closest("[data-setting=eligibilityExpression]"),
    );
    expect(
      await setting("eligibilityExpression").getByRole("textbox").getAttribute("aria-invalid"),
    ).toBe("true");
    expect(await violations(page)).toEqual([]);
    expect(await Promise.all(["offerWindow", "maxQueueSize", "tierBonuses"].map(typed))).toEqual([
      "45",
      "20",
      "gold",
    ]);
    await expect(page.getByRole("textbox", { name: "Reason" })).toHaveValue(
      "Gold members come first",
    );
    expect(await kept()).toEqual(before);

    // The preview reports the error, too, and runs again once it is fixed.
    await page.getByRole("button", { name: "Test on the last 30 days" }).click();
    await page.getByText("Fix the fields marked above to run the test.").waitFor();
    await type("eligibilityExpression", 'entry.party_size > 0 &&\n  member.tier == "gold"');
    await wrong.waitFor({ state: "hidden" });
    await page.getByText("1 of 1 decisions would have been different.").waitFor();
    await page
      .getByRole("row", { name: /Fringe/ })
      .getByText(
        "Would have got a seat instead: Mona Member. Would not have got a seat: Ada Admin.",
      )
      .waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await kept()).toEqual(before);

    await save();
    await saved();
    await page.reload();
    await setting("eligibilityExpression").getByText("Set here").waitFor();
    expect(await typed("offerWindow")).toBe("45");
    expect(await typed("eligibilityExpression")).toContain("member.tier");
    await page.getByRole("tab", { name: "History" }).click();
    const version = page.getByRole("row", { name: /Gold members come first/ });
    for (const text of [
      "Olive Owner",
      "Mirror Row",
      "Time to answer: 45 min",
      "Waitlist limit: 20",
    ])
      await version.getByText(text).first().waitFor();
    await version.getByText(/member\.tier == "gold"/).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("need an expression for the custom order", async () => {
    const locationId = await createLocation("Formula Row");
    await using there = await visit({
      role: "owner",
      tenant: salon,
      path: `/waitlist-rules?for=location:${locationId}`,
    });
    const { page } = there;
    const { setting, override, type, save, saved } = onRules(page);
    await override("order");
    await setting("order").getByRole("combobox", { name: "Order" }).click();
    await page.getByRole("option", { name: "Custom expression" }).click();
    await save();
    await setting("priorityExpression")
      .getByText("The order “Custom expression” needs an expression here.")
      .waitFor();
    // Discarding the draft discards its error.
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await setting("priorityExpression").getByRole("alert").waitFor({ state: "hidden" });
    await override("order");
    await setting("order").getByRole("combobox", { name: "Order" }).click();
    await page.getByRole("option", { name: "Custom expression" }).click();
    await override("priorityExpression");
    await type("priorityExpression", "entry.waiting_hours * 2.0");
    await save();
    await saved();
    const { effective } = await ofSalon<Rules>("WaitlistService/GetWaitlistRules", { locationId });
    expect(effective.rules).toMatchObject({
      order: "WAITLIST_ORDER_CUSTOM",
      priorityExpression: "entry.waiting_hours * 2.0",
    });
  });

  test("are inherited, overridden and reset", async () => {
    await Promise.all([createLocation("Heir Row"), createService("Curls")]);
    await using there = await visit({ role: "admin", tenant: salon, path: "/waitlist-rules" });
    const { page } = there;
    const { setting, override, type, look, save, saved } = onRules(page);
    const tries = setting("maxTriesPerSlot");
    await tries.getByText("Default").waitFor();
    await override("maxTriesPerSlot");
    await type("maxTriesPerSlot", "4");
    await save("Four is enough");
    await saved();

    for (const at of ["Heir Row", "Curls"]) {
      await look(at);
      await tries.getByText("Organization").waitFor();
      await tries.getByText("4", { exact: true }).waitFor();
    }
    await override("maxTriesPerSlot");
    await type("maxTriesPerSlot", "6");
    await override("autoCascade");
    await setting("autoCascade").getByText("No", { exact: true }).click();
    await save("Curls take longer");
    await saved();
    await tries.getByText("Set here").waitFor();
    await page.getByText("2 overrides").waitFor();

    // First one setting, then all of them.
    await setting("autoCascade")
      .getByRole("button", { name: /^Use inherited value/ })
      .click();
    let reload = () => {};
    const held = new Promise<void>((done) => {
      reload = done;
    });
    await page.route("**/berth.v1.WaitlistService/GetWaitlistRules*", async (route) => {
      await held;
      await route.continue();
    });
    await save();
    await saved();
    await setting("autoCascade").getByText("Default").waitFor();
    // The number of overrides is outdated until the rules are loaded again.
    expect(await page.getByRole("button", { name: "Remove all overrides" }).isVisible()).toBe(
      false,
    );
    reload();
    await page.getByRole("button", { name: "Remove all overrides" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove all overrides?" });
    await dialog.getByText("1 override will be removed immediately.").waitFor();
    await dialog.getByLabel("Reason").fill("Like all others");
    await dialog.getByRole("button", { name: "Remove all overrides" }).click();
    await dialog.waitFor({ state: "hidden" }); // it has a button of the same name
    await tries.getByText("Organization").waitFor();
    await tries.getByText("4", { exact: true }).waitFor();

    await look("The whole organization");
    await page.getByRole("button", { name: "Remove all overrides" }).click();
    await dialog.getByRole("button", { name: "Remove all overrides" }).click();
    await tries.getByText("Default").waitFor();
    await tries.getByText("10", { exact: true }).waitFor();

    await page.getByRole("tab", { name: "History" }).click();
    const row = (text: string) => page.getByRole("row", { name: new RegExp(text) });
    await row("Like all others").getByText("Use inherited values").waitFor();
    await row("Like all others").getByText("Curls").waitFor();
    await row("Curls take longer").getByText("Offers per seat: 6").waitFor();
    await row("Four is enough").getByText("Ada Admin").waitFor();
  });

  test("show conflicting edits and keep everything typed", async () => {
    const locationId = await createLocation("Shared Row");
    const how = { tenant: salon, path: `/waitlist-rules?for=location:${locationId}` } as const;
    await using first = await visit({ ...how, role: "owner" });
    await using second = await visit({ ...how, role: "admin" });
    const [one, other] = [onRules(first.page), onRules(second.page)];
    await other.override("maxTriesPerSlot");
    await other.type("maxTriesPerSlot", "7");
    await other.override("maxOffersPerEntry");
    await other.type("maxOffersPerEntry", "9");
    await one.override("maxOffersPerEntry");
    await one.type("maxOffersPerEntry", "5");
    await one.override("baseScore");
    await one.type("baseScore", "120");
    await one.save();
    await one.saved();

    await other.save("Seven and nine");
    const told = second.page
      .getByRole("alert")
      .filter({ hasText: "Someone else changed this while you were editing" });
    await told.getByText("Offers per entry").waitFor();
    await told.getByRole("definition").filter({ hasText: "5" }).waitFor();
    await told.getByRole("definition").filter({ hasText: "120" }).waitFor();
    expect(await violations(second.page)).toEqual([]);
    expect(
      await Promise.all(["maxTriesPerSlot", "maxOffersPerEntry", "baseScore"].map(other.typed)),
    ).toEqual(["7", "9", "120"]);
    await expect(second.page.getByRole("textbox", { name: "Reason" })).toHaveValue(
      "Seven and nine",
    );
    await other.save();
    await other.saved();
    const { effective } = await ofSalon<Rules>("WaitlistService/GetWaitlistRules", { locationId });
    expect(effective.rules).toMatchObject({
      maxTriesPerSlot: { max: 7 },
      maxOffersPerEntry: { max: 9 },
      baseScore: 120,
    });
    // An untouched form follows what others save.
    await first.page.locator('[data-setting="maxTriesPerSlot"]').getByText("Set here").waitFor();
    expect(await one.typed("maxOffersPerEntry")).toBe("9");
  });

  test("are read-only without the permission to change them", async () => {
    const locationId = await createLocation("Glass Row");
    await ofSalon("WaitlistService/UpdateWaitlistRules", {
      locationId,
      rules: { maxTriesPerSlot: { max: 8 } },
      updateMask: "maxTriesPerSlot",
      reason: "Eight",
    });
    const { member } = await ofSalon<{ member: { id: string } }>(
      "MemberService/GetMe",
      {},
      "member",
    );
    const role = "rules_reader";
    await ofSalon("AccessService/CreateRole", {
      name: role,
      role: {
        title: "Rules reader",
        permissions: ["waitlist.read_rules", "member.read", "catalog.read", "tenant.read"],
      },
    });
    await ofSalon("AccessService/AssignRole", { memberId: member.id, role });
    await using there = await visit({ role: "member", tenant: salon, path: "/waitlist-rules" });
    const { page } = there;
    const { setting, look } = onRules(page);
    await setting("maxTriesPerSlot").getByText("Default").waitFor();
    await look("Glass Row");
    await setting("maxTriesPerSlot").getByText("Set here").waitFor();
    await setting("maxTriesPerSlot").getByText("8", { exact: true }).waitFor();
    await expect(page.getByRole("button", { name: /Override|inherited|Save/ })).toHaveCount(0);
    await expect(page.locator("[data-setting] :is(input, textarea, select)")).toHaveCount(0);
    expect(await violations(page)).toEqual([]);
    expect(await page.getByRole("tab").allTextContents()).toEqual(["Rules", "History"]);
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("row", { name: /Eight/ }).getByText("Offers per seat: 8").waitFor();
    await ofSalon("AccessService/RevokeRole", { memberId: member.id, role });
  });
});

test("explains a waitlist score, also with the keyboard", async () => {
  const [locationId, serviceId] = await Promise.all([
    createLocation("Score Row"),
    createService("Colour"),
  ]);
  await ofSalon("WaitlistService/UpdateWaitlistRules", {
    locationId,
    rules: {
      order: "WAITLIST_ORDER_PRIORITY",
      tierBonuses: { bonuses: [{ tier: "gold", points: 20 }] },
      earlyBirdPointsPerDay: 2,
      earlyBirdMaxPoints: 6,
    },
    updateMask: "order,tierBonuses,earlyBirdPointsPerDay,earlyBirdMaxPoints",
  });
  const { sessionId } = await createWaitlist(locationId, serviceId, 8 * day + 5 * hour);
  await using there = await visit({
    role: "owner",
    tenant: salon,
    path: `/sessions/${sessionId}`,
  });
  const { page } = there;
  const mona = page.getByRole("button", { name: "score 126, Mona Member" });
  await mona.focus();
  await page.keyboard.press("Enter");
  const parts = page.getByRole("dialog");
  await parts.getByText("Number 1 on the waitlist").waitFor();
  const part = (name: string) =>
    parts.locator("dl > div", { has: page.getByText(name, { exact: true }) }).locator("dd");
  await parts.getByText("The waitlist rules put the highest score first.").waitFor();
  expect(await part("Base score").textContent()).toBe("100");
  expect(await part("Tier bonus").textContent()).toBe("+ 20");
  expect(await part("Early-bird points").textContent()).toBe("+ 6");
  expect(await part("Score").textContent()).toBe("126");
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await parts.waitFor({ state: "hidden" });
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "score 126, Mona Member",
  );

  // A score set by staff replaces the computed one, and prioritized entries come first.
  const { entries } = await ofSalon<{ entries: { id: string; memberName: string }[] }>(
    "WaitlistService/ExplainSessionWaitlist",
    { sessionId },
  );
  const entryId = entries.find(({ memberName }) => memberName === "Ada Admin")?.id;
  await ofSalon("WaitlistService/SetWaitlistPriority", { entryId, flagged: true, score: 50 });
  await using coach = await visit({
    role: "coach",
    tenant: salon,
    path: `/sessions/${sessionId}`,
    locale: "de-DE",
    width: 390,
    height: 844,
    scheme: "dark",
  });
  await coach.page.getByRole("button", { name: "Punkte: 50, Ada Admin" }).click();
  const details = coach.page.getByRole("dialog");
  await details.getByText("Nummer 1 auf der Warteliste").waitFor();
  await details.getByText("Vom Team priorisiert").waitFor();
  await details.getByText("Punkte vom Team vergeben").waitFor();
  // Coaches cannot read the rules.
  await details.getByText("Die Regeln der Warteliste bestimmen, ob die Punkte zählen.").waitFor();
  expect(await violations(coach.page)).toEqual([]);
});
