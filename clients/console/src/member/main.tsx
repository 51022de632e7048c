import { loadTexts } from "../i18n/load";
import { expectUser } from "../shared/start/expect-user";

// The parts of the first page load side by side.
const expected = expectUser();
const texts = loadTexts();
const load = async () => {
  const app = await import("./shell");
  await app.ready;
  return app;
};
if (!expected.user) void import("../shared/auth/sign-in");
else void expected.asked.then(load);
void import("../shared/start/root").then(({ open }) => open("/app/", expected, texts, load));
