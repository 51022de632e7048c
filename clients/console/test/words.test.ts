import { expect, test } from "@playwright/test";
import { call, makeSession, settled, visit, withBrowser } from "./browser";

withBrowser();

const day = 24 * 60 * 60 * 1000;

test.describe("in German", () => {
  const german = { role: "owner", locale: "de-DE" } as const;

  test("explains waitlist decisions", async () => {
    const id = await makeSession("Warteprobe", 10 * day, { capacity: 1, waitlistCapacity: 3 });
    await call("coach", "BookingService/Book", { sessionId: id });
    await call("member", "WaitlistService/JoinWaitlist", { sessionId: id });
    await call("owner", "SessionService/UpdateSession", {
      sessionId: id,
      session: { capacity: 3 },
      updateMask: "capacity",
    });
    await using there = await visit({ ...german, path: `/sessions/${id}` });
    const { page } = there;
    await page.getByRole("button", { name: "Warum?" }).click();
    const log = page.getByRole("dialog");
    await log.getByText("Plätze kamen hinzu").waitFor();
    await log.getByText("2 Plätze waren frei, 1 auf der Warteliste.").waitFor();
    await log.getByText(/1 Platz bleibt frei/).waitFor();
    await settled(page);
    expect(await log.textContent()).not.toMatch(/\b(seat|place|was|were|left)\b/);
  });

  test("describes permissions and built-in roles", async () => {
    await using there = await visit({ ...german, path: "/roles" });
    const { page } = there;
    await page.getByText("Die Buchungen aller Mitglieder stornieren.").waitFor();
    await page.getByRole("searchbox").fill("Warteliste");
    await page.getByText("Auswertungen zur Warteliste sehen.").waitFor();
    await page.getByText("Die Buchungen aller Mitglieder stornieren.").waitFor({ state: "hidden" });
    await page.goto(new URL("/roles?tab=people", page.url()).href);
    await page.getByText("Leitet die Organisation und darf alles.").waitFor();
  });
});
