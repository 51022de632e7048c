import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import * as browser from "../examples/browser.js";
import { AccessService } from "../src/index.js";
import { as, club, newSession, protocols } from "./berth.js";

const { address } = inject("berth");
const [grpc] = protocols;

/** In ms. Only failing tests wait this long. */
const timeout = 120_000;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Runs a program of `examples` until it ends and returns its output. */
async function run(program: () => Promise<unknown>, ...args: string[]): Promise<string[]> {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((...words) => void printed.push(words.join(" ")));
  const { argv } = process;
  process.argv = ["node", "example.js", ...args];
  try {
    await program();
  } finally {
    process.argv = argv;
  }
  return printed;
}

describe("the code in the docs", () => {
  it.each(["README.md", "../../docs/browser.md"])(
    "is taken from the examples: %s",
    async (page) => {
      const root = new URL("../", import.meta.url);
      const names = await readdir(new URL("examples/", root));
      const examples = await Promise.all(
        names.map((name) => readFile(new URL(`examples/${name}`, root), "utf8")),
      );
      const text = await readFile(new URL(page, root), "utf8");
      const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = ""]) => code);
      expect(blocks.length).toBeGreaterThan(1);
      for (const block of blocks) {
        expect(
          examples.some((example) => example.includes(block)),
          block,
        ).toBe(true);
      }
    },
  );
});

describe("an example", () => {
  it("books the first session of the week", async () => {
    const sessionId = await newSession(4);
    expect(sessionId).not.toBe("");
    const program = () => import("../examples/book.js");
    const printed = await run(program, address, club.tokens.member);
    expect(printed).toEqual([expect.stringMatching(/^.+: (booking|number) \S+$/)]);
  });

  it("prints bookings and cancellations, and resumes from its cursor", async () => {
    if (!grpc) throw new Error("no gRPC");
    const folder = await mkdtemp(join(tmpdir(), "berth-watch-"));
    try {
      const file = join(folder, "cursor");
      const access = createClient(AccessService, grpc.connect(club.tokens.owner));
      const { key } = await access.createServiceAccount({
        serviceAccount: { name: folder, roles: ["coach"] },
      });
      const { bookings } = as("member", grpc);
      // Start from a cursor: without one, events before the watch are not sent.
      const { endCursor } = await as("owner", grpc).events.listEvents({ newestFirst: true });
      await writeFile(file, endCursor);

      const sessionId = await newSession(1);
      const { outcome } = await bookings.book({ sessionId });
      const bookingId = outcome.value?.id ?? "";
      await bookings.cancelBooking({ bookingId });

      const printed = await run(() => import("../examples/watch.js"), address, key, file);
      expect(printed.filter((line) => line.includes(bookingId))).toEqual([
        `BOOKING_CONFIRMED ${bookingId}`,
        `BOOKING_CANCELLED ${bookingId}`,
      ]);
      expect(await readFile(file, "utf8")).not.toBe(endCursor);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("keeps a week up to date", async () => {
    const real = fetch;
    let tokens = 0;
    vi.stubGlobal("fetch", async (input: RequestInfo, init?: RequestInit) => {
      if (input !== "/api/berth-token") return real(input, init);
      tokens++;
      return new Response(club.tokens.member);
    });
    const berth = browser.connect(address);
    const sessionId = await newSession(1);
    const mine = async () => {
      const sessions = await browser.week(berth, new Date());
      const found = sessions.find(({ id }) => id === sessionId);
      if (!found) throw new Error("the new session is not there");
      return found;
    };
    const leave = new AbortController();
    const seats: (number | undefined)[] = [];
    const online: boolean[] = [];
    const following = browser.follow(
      berth,
      () => void mine().then(({ seatsOpen }) => seats.push(seatsOpen)),
      (yes) => online.push(yes),
      leave.signal,
    );
    // Other tests run at the same time, so there may be more calls.
    await vi.waitFor(() => expect(seats).toContain(1), timeout);
    expect(await browser.book(berth, await mine())).toBe("See you there!");
    await vi.waitFor(() => expect(seats).toContain(0), timeout);
    expect(await browser.book(berth, await mine())).toBe("You are already booked.");
    leave.abort();
    await following;
    expect(online[0]).toBe(true);
    expect(tokens).toBe(1);
  });
});
