import { expect, type Page, test } from "@playwright/test";
import { newTenant, type Person, settled, violations, visit, withBrowser } from "./browser";

/* The first hour of a tenant that has nothing yet. */

withBrowser();

const dialog = (page: Page, title: string) => page.getByRole("dialog", { name: title });

/** Fills in the form of what a select lacks, over the form that it is part of. */
async function addInPlace(page: Page, field: string, option: string, name: string): Promise<void> {
  await dialog(page, "New session").getByRole("combobox", { name: field }).click();
  await page.getByRole("option", { name: `+ ${option}` }).click();
  const form = dialog(page, option);
  await form.getByRole("textbox", { name: "Name" }).fill(name);
  await form.getByRole("button", { name: "Create" }).click();
  await form.waitFor({ state: "hidden" });
}

test.describe("an empty tenant", () => {
  let owner: Person;
  test.beforeAll(async () => {
    owner = await newTenant("Nothing yet");
  });

  for (const [path, says, act] of [
    ["/", "No sessions scheduled", "Create your first session"],
    ["/?by=location", "No sessions scheduled", "Create your first session"],
    ["/tee-sheet", "No tees yet", "Catalog"],
    ["/catalog", "No locations yet", "New location"],
    ["/catalog?tab=services", "No services yet", "New service"],
    ["/catalog?tab=resources", "No resources yet", "New resource"],
    ["/catalog?tab=items", "No items yet", "New item"],
    ["/plans", "No plans yet", "New plan"],
    ["/app/", "No sessions to book yet", "Staff console"],
    ["/app/wait", "No sessions to book yet", ""],
    ["/app/wait/any", "Wait for one of several sessions", ""],
  ] as const) {
    for (const width of [1440, 390]) {
      test(`${path} says what to do first, ${width} pixels wide`, async () => {
        await using there = await visit({ person: owner, path, width });
        const { page } = there;
        await page.getByText(says).waitFor();
        await settled(page); // no skeleton stays
        const action = page
          .getByRole("button", { name: act })
          .or(page.getByRole("link", { name: act }));
        if (act) await action.filter({ visible: true }).last().waitFor();
        expect(await violations(page)).toEqual([]);
      });
    }
  }
});

for (const width of [1440, 390]) {
  test(`the form of a session creates what it lacks, ${width} pixels wide`, async () => {
    const person = await newTenant(`In place ${width}`);
    await using there = await visit({ person, width, path: "/" });
    const { page } = there;
    await page.getByRole("button", { name: "Create your first session" }).click();
    const form = dialog(page, "New session");
    await form.getByText("Repeats").waitFor();
    await expect(form.getByText("Times in")).toHaveCount(0); // there is no location whose they are

    await form.getByRole("combobox", { name: "Location" }).click();
    await page.getByRole("option", { name: "+ New location" }).click();
    const location = dialog(page, "New location");
    await expect(location.getByLabel("Time zone")).toHaveValue("Europe/Berlin"); // the browser's
    await page.keyboard.press("Escape");
    await location.waitFor({ state: "hidden" });
    await expect(form).toBeVisible();

    await addInPlace(page, "Location", "New location", "Riverside");
    await expect(form.getByRole("combobox", { name: "Location" })).toHaveValue("Riverside");
    await form.getByText("Times in Europe/Berlin").waitFor();
    await addInPlace(page, "Service", "New service", "Pilates");
    await expect(form.getByRole("combobox", { name: "Service" })).toHaveValue("Pilates");
    await expect(form.getByLabel("Seats")).toHaveValue("12"); // the service's
    await form.getByRole("combobox", { name: "Coach" }).click();
    await page.getByRole("option", { name: "+ Add staff" }).click();
    const staff = dialog(page, "Add staff");
    await staff.getByText("New person").click();
    await staff.getByRole("textbox", { name: "Name" }).fill("Cara Coach");
    await staff.getByRole("textbox", { name: "Email" }).fill("cara@example.com");
    await staff.getByRole("button", { name: "Add" }).click();
    await expect(form.getByRole("combobox", { name: "Coach" })).toHaveValue("Cara Coach");
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("Pilates was added to the schedule").waitFor();
    await page.getByRole("link", { name: /Pilates/ }).waitFor();

    // The only choices are made already.
    await page.getByRole("button", { name: "New session" }).click();
    await expect(form.getByRole("combobox", { name: "Service" })).toHaveValue("Pilates");
    await expect(form.getByRole("combobox", { name: "Location" })).toHaveValue("Riverside");
  });
}
