import { expect, test } from "@playwright/test";
import { call, club, violations, visit, withBrowser } from "./browser";

withBrowser();

interface Named {
  readonly id: string;
  readonly name: string;
  readonly active?: boolean;
  readonly channels?: readonly string[];
}

test.describe("the catalog", () => {
  test("is created from scratch: location, service, resource, item and benefit", async () => {
    await using there = await visit({ role: "owner", path: "/catalog" });
    const { page } = there;
    const drawer = (name: string) => page.getByRole("dialog", { name });

    await page.getByRole("button", { name: "New location" }).click();
    const place = drawer("New location");
    await place.getByLabel("Name").fill("Lighthouse");
    await place.getByLabel("Address").fill("Cape 3");
    await place.getByLabel("Latitude").fill("54.1");
    await place.getByLabel("Longitude").fill("12.05");
    await place.getByRole("checkbox", { name: "Online" }).uncheck();
    await place.getByRole("button", { name: "Create" }).click();
    await place.waitFor({ state: "hidden" });
    const row = page.getByRole("row", { name: /Lighthouse/ });
    await row.getByText("54.1000, 12.0500").waitFor();
    await expect(row.getByText("Online")).toHaveCount(0);
    await expect(row.getByText("Walk-in")).toHaveCount(1);

    await page.getByRole("tab", { name: "Services" }).click();
    await page.getByRole("button", { name: "New service" }).click();
    const service = drawer("New service");
    await service.getByLabel("Name").fill("Tide Watch");
    await service.getByLabel("Category").fill("Sea");
    await service.getByLabel("Minutes").fill("75");
    await service.getByLabel("Largest party").fill("4");
    await service.getByRole("button", { name: "Create" }).click();
    const offered = page.getByRole("row", { name: /Tide Watch/ });
    await offered.getByText("1 h 15 min").waitFor();
    await offered.getByText("1–4").waitFor();

    await page.getByRole("tab", { name: "Resources" }).click();
    await page.getByRole("button", { name: "New resource" }).click();
    const resource = drawer("New resource");
    await resource.getByLabel("Location").click();
    await page.getByRole("option", { name: "Lighthouse" }).click();
    await resource.getByLabel("Name").fill("Lantern Room");
    await resource.getByLabel("Type").fill("room");
    await page.keyboard.press("Escape");
    await resource.getByRole("button", { name: "Create" }).click();
    await page.getByRole("row", { name: /Lantern Room room Lighthouse/ }).waitFor();

    await page.getByRole("tab", { name: "Items" }).click();
    await page.getByRole("button", { name: "New item" }).click();
    const item = drawer("New item");
    await item.getByLabel("Location").click();
    await page.getByRole("option", { name: "Lighthouse" }).click();
    await item.getByLabel("Name").fill("Telescope");
    await item.getByLabel("Stock").fill("3");
    await item.getByLabel("Price").fill("4.5");
    await item.getByRole("button", { name: "Create" }).click();
    const had = page.getByRole("row", { name: /Telescope/ });
    await had.getByText("€4.50").waitFor();

    await page.getByRole("tab", { name: "Partner benefits" }).click();
    await page.getByRole("button", { name: "New partner benefit" }).first().click();
    const benefit = drawer("New partner benefit");
    await benefit.getByLabel("Name").fill("Friends of the Sea");
    await benefit.getByLabel("Code").fill("sea");
    await benefit.getByLabel("Membership number format").fill("[0-9]{4}");
    await benefit.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Edit: Friends of the Sea" }).click();
    const sea = drawer("Friends of the Sea");
    await sea.getByText("No member has used a number yet.").waitFor();
    await sea.getByLabel("Numbers", { exact: true }).fill("1234\n12 34\n5678");
    await sea.getByRole("button", { name: "Add 3" }).click();
    await sea.getByText("2 on the list").waitFor();
    await sea.getByLabel("Numbers", { exact: true }).fill("9999, -");
    await sea.getByRole("button", { name: "Replace the list" }).click();
    await sea.getByText("1 on the list").waitFor();
    expect(await violations(page)).toEqual([]);
    await sea.getByRole("switch", { name: "Only numbers on a list" }).click();
    await sea.getByRole("button", { name: "Save" }).click();
    await sea.waitFor({ state: "hidden" });
    await page.getByRole("row", { name: /Friends of the Sea SEA/ }).waitFor();
  });

  test("archives a location and reactivates it", async () => {
    const { location } = await call<{ location: Named }>("owner", "CatalogService/CreateLocation", {
      location: { name: "Old Mill" },
    });
    await using there = await visit({ role: "owner", path: "/catalog" });
    const { page } = there;
    await page.getByRole("button", { name: "Edit: Old Mill" }).click();
    const drawer = page.getByRole("dialog", { name: "Old Mill" });
    await drawer.getByRole("switch", { name: "Active" }).click();
    await drawer.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /Old Mill/ }).waitFor({ state: "hidden" });
    await page.getByText(/archived, hidden/).waitFor();
    await drawer.waitFor({ state: "hidden" });
    await page.getByRole("switch", { name: "Show archived" }).click();
    const row = page.getByRole("row", { name: /Old Mill/ });
    await row.getByText("Archived").waitFor();
    await row.getByRole("button", { name: /Edit/ }).click();
    await drawer.getByRole("switch", { name: "Active" }).click();
    await drawer.getByRole("button", { name: "Save" }).click();
    await row.getByText("Archived").waitFor({ state: "hidden" });
    const { locations } = await call<{ locations: Named[] }>(
      "owner",
      "CatalogService/ListLocations",
      {},
    );
    expect(locations.find(({ id }) => id === location.id)?.active).toBe(true);
  });

  test("shows conflicting edits of a service", async () => {
    const { service } = await call<{ service: Named }>("owner", "CatalogService/CreateService", {
      service: { name: "Shared Service", duration: "3600s" },
    });
    await using there = await visit({ role: "owner", path: "/catalog?tab=services" });
    const { page } = there;
    await page.getByRole("button", { name: "Edit: Shared Service" }).click();
    const drawer = page.getByRole("dialog", { name: /Shared Service|Renamed/ });
    await drawer.getByLabel("Description").fill("Mine.");
    await call("admin", "CatalogService/UpdateService", {
      serviceId: service.id,
      service: { category: "Theirs" },
      updateMask: "category",
    });
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer
      .getByRole("alert")
      .filter({ hasText: "Someone else changed this" })
      .getByRole("definition")
      .filter({ hasText: "Theirs" })
      .waitFor();
    await expect(drawer.getByLabel("Description")).toHaveValue("Mine.");
    await drawer.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /Shared Service Theirs/ }).waitFor();
  });

  test("shows conflicting edits of a partner benefit, and rejects a duplicate code", async () => {
    const provider = {
      name: "Twice Seen",
      numberPattern: "[0-9]{3}",
      discountPercent: 10,
      active: true,
    };
    await call("admin", "CatalogService/CreateBenefitProvider", {
      providerCode: "TWICE",
      provider,
    });
    await using there = await visit({ role: "owner", path: "/catalog?tab=benefits" });
    const { page } = there;
    await page.getByRole("button", { name: "Edit: Twice Seen" }).click();
    const drawer = page.getByRole("dialog", { name: "Twice Seen" });
    await drawer.getByLabel("Membership number format").fill("[0-9]{4}");
    await call("admin", "CatalogService/UpdateBenefitProvider", {
      providerCode: "TWICE",
      provider: { discountPercent: 15 },
      updateMask: "discountPercent",
    });
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer
      .getByRole("alert")
      .filter({ hasText: "Someone else changed this" })
      .getByRole("definition")
      .filter({ hasText: "15" })
      .waitFor();
    await drawer.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row", { name: /Twice Seen/ });
    await row.getByText("[0-9]{4}").waitFor();
    await row.getByText("15 %").waitFor();

    await page.getByRole("button", { name: "New partner benefit" }).first().click();
    const form = page.getByRole("dialog", { name: "New partner benefit" });
    await form.getByLabel("Name").fill("Thrice");
    await form.getByLabel("Code").fill("twice");
    await form.getByLabel("Membership number format").fill("[0-9]");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByRole("alert").filter({ hasText: "This already exists" }).waitFor();
  });

  test("saves a location and its booking channels in one call", async () => {
    // The member app opens with the first location by name: do not change it for other tests.
    const { location } = await call<{ location: Named }>("owner", "CatalogService/CreateLocation", {
      location: { name: "Quay House" },
    });
    await using there = await visit({ role: "owner", path: "/catalog" });
    const { page } = there;
    await page.getByRole("button", { name: "Edit: Quay House" }).click();
    const drawer = page.getByRole("dialog", { name: "Quay House" });
    await drawer.getByLabel("Address").fill("Pier 9");
    await drawer.getByRole("checkbox", { name: "Phone" }).uncheck();
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") calls.push(request.url().split("/").at(-1) ?? "");
    });
    await drawer.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /Quay House Pier 9/ }).waitFor();
    expect(calls.filter((name) => /Location/.test(name))).toEqual(["UpdateLocation"]);
    const kept = await call<{ location: Named }>("owner", "CatalogService/GetLocation", {
      locationId: location.id,
    });
    expect(kept.location.channels).toEqual(["BOOKING_CHANNEL_ONLINE", "BOOKING_CHANNEL_WALK_IN"]);
  });

  test("is read-only for coaches", async () => {
    await using there = await visit({ role: "coach", path: "/catalog?tab=services" });
    const { page } = there;
    await page.getByRole("row", { name: /Vinyasa/ }).waitFor();
    await expect(page.getByRole("button", { name: "New service" })).toHaveCount(0);
    await expect(page.getByRole("button", { name: /^Edit/ })).toHaveCount(0);
    await expect(page.getByRole("tab", { name: "Organization" })).toHaveCount(0);
  });

  test("adds a new person to staff", async () => {
    await using there = await visit({ role: "owner", tenant: club, path: "/catalog?tab=staff" });
    const { page } = there;
    await page.getByRole("button", { name: "Add staff" }).click();
    const dialog = page.getByRole("dialog", { name: "Add staff" });
    await dialog.getByText("New person").click();
    await dialog.getByLabel("Name").fill("Perry Pro");
    await dialog.getByLabel("Email").fill("perry@example.com");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const row = page.getByRole("row", { name: /Perry Pro/ });
    await row.getByText("Coach", { exact: true }).waitFor();
  });

  test("saves the settings of the organization", async () => {
    await using there = await visit({
      role: "owner",
      tenant: club,
      path: "/catalog?tab=organization",
    });
    const { page } = there;
    await page.getByLabel("Name").fill("Dunes Golf & Country Club");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByTitle("Dunes Golf & Country Club").waitFor();
    await page.getByLabel("Name").fill("Dunes Golf Club");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByTitle("Dunes Golf Club", { exact: true }).waitFor();
  });
});

test("options, pages and permissions are found without accents and case", async () => {
  await call("owner", "CatalogService/CreateService", {
    service: { name: "Élan Größe", duration: "3600s", minParty: 1, maxParty: 1 },
  });
  await using there = await visit({ role: "owner", locale: "de-DE", path: "/?new=1" });
  const { page } = there;
  const field = page.getByRole("dialog").getByRole("combobox", { name: "Leistung" });
  await field.click();
  await field.fill("elan GROSSE");
  await page.getByRole("option", { name: "Élan Größe" }).click();
  await expect(field).toHaveValue("Élan Größe");

  await page.goto(new URL("/workouts", page.url()).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("textbox", { name: "Suchen" }).fill("BÜCHUNGSREGELN");
  await page.getByRole("button", { name: "Buchungsregeln" }).last().waitFor();
});
