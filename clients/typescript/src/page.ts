import type { CallOptions } from "@connectrpc/connect";

/** An RPC that returns a list in pages. */
export type ListMethod<Request, Page> = (request: Request, options?: CallOptions) => Promise<Page>;

/**
 * Reads all pages of a list. A page is fetched when the loop asks for it. Throws a `ConnectError` if
 * a call fails.
 *
 * ```ts
 * for await (const page of pages(berth.sessions.listSessions, { filter })) show(page.sessions);
 * ```
 */
export async function* pages<
  Request extends { pageToken?: string },
  Page extends { nextPageToken: string },
>(
  list: ListMethod<Request, Page>,
  request: Request,
  options?: CallOptions,
): AsyncGenerator<Page, void, undefined> {
  let next: Request | undefined = request;
  while (next) {
    const page: Page = await list(next, options);
    yield page;
    next = page.nextPageToken ? { ...request, pageToken: page.nextPageToken } : undefined;
  }
}

/**
 * Reads all items of a list. A page is fetched when the loop asks for its first item. Throws a
 * `ConnectError` if a call fails.
 *
 * ```ts
 * for await (const session of all(berth.sessions.listSessions, { filter }, (page) => page.sessions)) {
 *   show(session);
 * }
 * ```
 */
export async function* all<
  Request extends { pageToken?: string },
  Page extends { nextPageToken: string },
  Item,
>(
  list: ListMethod<Request, Page>,
  request: Request,
  items: (page: Page) => readonly Item[],
  options?: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages(list, request, options)) yield* items(page);
}
