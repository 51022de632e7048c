import { startTexts } from "../shared/i18n/load";
import { type Call, expectUser } from "../shared/start/expect-user";

// The parts of the first page load side by side, and so do its data.
const isSchedule = location.pathname === "/";
const all = {
  filter: { statuses: ["CATALOG_STATUS_ACTIVE", "CATALOG_STATUS_INACTIVE"] },
  pageSize: 500,
};
const catalog: readonly Call[] = [
  ["CatalogService/ListLocations", all],
  ["CatalogService/ListServices", all],
  ["CatalogService/ListResources", all],
];
const expected = expectUser(isSchedule ? catalog : []);
const texts = startTexts({
  en: async () => (await import("./first-texts/en")).en,
  de: async () => (await import("./first-texts/de")).de,
  fr: async () => (await import("./first-texts/fr")).fr,
});
const load = async () => {
  const app = await import("./app");
  await app.ready;
  return app;
};
if (!expected.user) void import("../shared/sign-in/sign-in");
else {
  void expected.asked.then(() => {
    void load();
    if (isSchedule) void import("./schedules/page");
  });
}
void import("../shared/root/root").then(({ open }) =>
  open("/", expected, texts, load, async (queries, answers) =>
    (await import("./catalog/data")).seedCatalog(queries, answers),
  ),
);
