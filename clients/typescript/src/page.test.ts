import { expect, it } from "vitest";
import { all, pages } from "./page.js";

interface Request {
  pageToken?: string;
  filter: string;
}

/** A list with two items per page, and the requests it received. */
function listing(...items: readonly number[]) {
  const asked: Request[] = [];
  const list = async (request: Request) => {
    asked.push(request);
    const from = Number(request.pageToken ?? 0);
    const to = from + 2;
    return {
      items: items.slice(from, to),
      nextPageToken: to < items.length ? String(to) : "",
    };
  };
  return { asked, list };
}

it("reads every item once, in order, with the same filter", async () => {
  const { asked, list } = listing(1, 2, 3, 4, 5);
  const found: number[] = [];
  for await (const item of all(list, { filter: "x" }, (page) => page.items)) found.push(item);
  expect(found).toEqual([1, 2, 3, 4, 5]);
  expect(asked).toEqual([
    { filter: "x" },
    { filter: "x", pageToken: "2" },
    { filter: "x", pageToken: "4" },
  ]);
});

it("fetches pages lazily", async () => {
  const { asked, list } = listing(1, 2, 3);
  for await (const item of all(list, { filter: "" }, (page) => page.items)) {
    if (item === 2) break;
  }
  expect(asked).toHaveLength(1);
});

it("yields one page for an empty list", async () => {
  const found = [];
  for await (const page of pages(listing().list, { filter: "" })) found.push(page);
  expect(found).toEqual([{ items: [], nextPageToken: "" }]);
});
