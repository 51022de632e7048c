import { startTexts } from "../shared/i18n/load";
import { expectUser } from "../shared/start/expect-user";

// The parts of the first page load side by side.
const expected = expectUser();
const texts = startTexts({
  en: async () => (await import("./first-texts/en")).en,
  de: async () => (await import("./first-texts/de")).de,
  fr: async () => (await import("./first-texts/fr")).fr,
});
const load = async () => {
  const app = await import("./shell");
  await app.ready;
  return app;
};
if (!expected.user) void import("../shared/sign-in/sign-in");
else void expected.asked.then(load);
void import("../shared/root/root").then(({ open }) => open("/app/", expected, texts, load));
