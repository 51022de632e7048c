import { fromJson, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "@playwright/test";
import { ListSendingQuotasResponseSchema } from "../../typescript/src/gen/berth/v1/notification_service_pb";
import { call, day, makeSession, visit, withBrowser } from "./browser";

withBrowser();

test("puts the email about a booking into the local outbox", async () => {
  const title = "Told by Mail";
  const id = await makeSession(title, 11 * day);
  // A member without a device, who would get a push message, too.
  const { member } = await call<{ member: { id: string } }>("owner", "MemberService/CreateMember", {
    member: { name: "Polly Post", email: "polly@example.com" },
  });
  await using there = await visit({ role: "owner", path: "/messages?tab=outbox" });
  const { page } = there;
  await call("owner", "BookingService/Book", { sessionId: id, memberId: member.id });
  await page.getByRole("button", { name: `Booked: ${title}` }).click();
  const mail = page.frameLocator("iframe");
  await mail.getByText(`your place in ${title} is booked.`).waitFor();
  // Its styles apply, and no script runs in it.
  expect(await mail.locator("body").evaluate((body) => getComputedStyle(body).padding)).toBe(
    "24px",
  );
  expect(await page.locator("iframe").getAttribute("sandbox")).not.toContain("allow-scripts");
  await page.getByText("Calendar file", { exact: true }).first().click();
  await page.getByText(`SUMMARY:${title}`).waitFor();

  await page.getByRole("tab", { name: "Sent" }).click();
  const line = page.getByRole("row", { name: title });
  await line.getByText("Sent", { exact: true }).waitFor();
  await line.getByRole("button", { name: /Show more/ }).click();
  await page.getByRole("dialog", { name: "Message" }).getByText("Local outbox").waitFor();
});

test("previews a template while it is edited, and shows where it is invalid", async () => {
  await using there = await visit({
    role: "owner",
    path: "/messages?tab=templates&topic=4&channel=1&locale=en",
  });
  const { page } = there;
  const preview = page.getByRole("region", { name: "Preview" });
  const text = page.getByLabel(/^Text/);
  await text.fill("A place in {{.Title}} is free.");
  await preview.getByText(/^A place in .+ is free\.$/).waitFor();
  await preview.getByText(/1 segment/).waitFor();
  await text.fill("A place\n  {{.Nothing}}");
  await page.getByText("Line 2, column 5", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Show in text" }).click();
  await text.fill("Come: ");
  // Until the error below the text is gone, what is below it can move away from under a click.
  await preview.getByText(/^Come:$/).waitFor();
  await page.getByRole("button", { name: "Insert Title" }).click();
  await preview.getByText(/^Come: \w/).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Custom", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Restore built-in text" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore built-in text" }).click();
  await page.getByText("Built-in", { exact: true }).waitFor();
});

test("saves notification preferences", async () => {
  await using there = await visit({ role: "member", path: "/app/me", width: 390, height: 844 });
  const { page } = there;
  const choice = page.getByRole("checkbox", { name: "Reminder: Email" });
  const kept = page.waitForResponse(/UpdateNotificationPreferences$/);
  await choice.uncheck();
  await kept;
  await page.reload();
  await choice.waitFor();
  await expect(choice).not.toBeChecked();
  const again = page.waitForResponse(/UpdateNotificationPreferences$/);
  await choice.check();
  await again;
});

test("asks to confirm an address before it sends test messages there", async () => {
  await using there = await visit({ role: "owner", path: "/messages?tab=senders" });
  const { page } = there;
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const field = page.getByLabel(/^Code/);
  await field.waitFor();
  const text = await newestCode();
  await field.fill(text);
  await page.getByRole("button", { name: "Confirm", exact: true }).click();
  await expect.poll(() => field.count()).toBe(0);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("status").getByText("Sent").waitFor();
});

/** Waits for the owner's code in the local outbox. */
async function newestCode(): Promise<string> {
  interface Outbox {
    readonly messages?: { readonly message: { readonly text: string } }[];
  }
  const { member } = await call<{ member: { id: string } }>("owner", "MemberService/GetMe", {});
  const newest = async () => {
    const filter = { topic: "NOTIFICATION_TOPIC_CONTACT_CODE", memberId: member.id };
    const { messages = [] } = await call<Outbox>(
      "owner",
      "NotificationService/ListNotificationOutbox",
      {
        filter,
      },
    );
    return /\b[0-9]{6}\b/.exec(messages[0]?.message.text ?? "")?.[0] ?? "";
  };
  await expect.poll(newest).not.toBe("");
  return newest();
}

test("shows what to publish for a domain, and says what is wrong with it", async () => {
  await using there = await visit({ role: "owner", path: "/messages?tab=senders" });
  const { page } = there;
  const address = page.getByLabel(/^Sender address/);
  const save = page.getByRole("button", { name: "Save" });
  await page.getByRole("button", { name: "Set up domain" }).click();
  await address.fill("hello@co.uk");
  await save.click();
  await page.getByText("This domain cannot be used.").waitFor();
  await address.fill("hello@harbour.com");
  await save.click();
  await page.getByText("Not verified").waitFor();
  await page.getByText(/^berth=[a-z2-7]{26}$/).waitFor();
  await page.getByText("_domainkey.harbour.com").waitFor();
  await page.getByRole("button", { name: "Copy: TXT record (_berth.harbour.com)" }).waitFor();
  await page.getByRole("button", { name: "Verify" }).click();
  // The name server of the tests is none.
  await page.getByText("The name servers do not answer for _berth.harbour.com.").waitFor();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("button", { name: "Remove domain" }).click();
  await page.getByRole("button", { name: "Set up domain" }).waitFor();
});

test("shows how much of a sending quota is used", async () => {
  await using there = await visit({ role: "owner", path: "/messages" });
  const { page } = there;
  // The server of the tests has none, since it sends nothing through accounts of the platform.
  const answer = fromJson(ListSendingQuotasResponseSchema, {
    quotas: [
      { channel: "NOTIFICATION_CHANNEL_SMS", limit: 400, used: 40, growth: 2 },
      {
        channel: "NOTIFICATION_CHANNEL_SMS",
        country: "PT",
        limit: 20,
        used: 21,
        waiting: 3,
        roomTime: new Date(Date.now() + 3_600_000).toISOString(),
        growth: 2,
      },
    ],
  });
  await page.route("**/berth.v1.NotificationService/ListSendingQuotas*", (route) =>
    route.fulfill({
      contentType: "application/proto",
      body: Buffer.from(toBinary(ListSendingQuotasResponseSchema, answer)),
    }),
  );
  await page.getByRole("tab", { name: "Senders" }).click();
  await page.getByText("40 of 400").waitFor();
  await page.getByText("2 times the quota of a new organization").waitFor();
  await page.getByText("SMS · Portugal").waitFor();
  await page.getByText("21 of 20").waitFor();
  await page.getByText("Used up").waitFor();
  await page.getByText("3 waiting").waitFor();
});
