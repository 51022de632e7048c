import { createServer } from "node:net";
import { cpus, loadavg } from "node:os";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject } from "vitest";

export type Role = "owner" | "admin" | "coach" | "member";
export const [studio, club, salon] = [0, 1, 2] as const;

export interface Development {
  readonly address: string;
  readonly tenants: readonly {
    readonly id: string;
    readonly name: string;
    readonly tokens: Readonly<Record<string, string>>;
  }[];
}

export const berth = (): Development =>
  (inject as unknown as (key: string) => Development)("berth");

let browser: Browser;

export const hour = 3_600_000;
export const day = 24 * hour;

/** When a file of tests begins, at a full five minutes: it counts its times from here, so that midnight may pass meanwhile. */
const begun = Math.ceil(Date.now() / 300_000) * 300_000;

export const at = (ms: number) => new Date(begun + ms);

/** The day of what is at such a time, there, as 2026-03-18. */
export const dateIn = (ms: number, timeZone = "Europe/Berlin") =>
  new Intl.DateTimeFormat("sv-SE", { timeZone }).format(at(ms));

/** In ms; only a failing test waits it out. */
const patience = 60_000;

/** What is to take so many ms at most, on a machine that has time: others that wait for its processors are allowed for. */
export const promised = (ms: number) => ms * Math.max(1, (2 * (loadavg()[0] ?? 0)) / cpus().length);

/** Starts Chromium for a file of tests, in which the demo people have no plans, and may be written to often. */
export function withBrowser(): void {
  beforeAll(async () => {
    [browser] = await Promise.all([launch(), manyMessages(), ...people.flatMap(atLiberty)]);
  });
  afterAll(() => browser?.close());
}

/** More mails than anybody gets in a day would go to a telephone instead. */
const manyMessages = () =>
  call("owner", "NotificationService/UpdateNotificationSettings", {
    settings: { emailPerDay: 100, pushPerDay: 100 },
    updateMask: "emailPerDay,pushPerDay",
  });

const people: readonly Role[] = ["owner", "admin", "coach", "member"];

/**
 * Gives up what somebody has booked: the demo's month books the member at hours that depend on when it is made, other
 * files of tests do so too, and nobody can be in two sessions at once.
 */
const atLiberty = (role: Role) =>
  [studio, club].map(async (tenant) => {
    const { bookings = [] } = await call<{ bookings?: { id: string }[] }>(
      role,
      "BookingService/ListMyBookings",
      {
        startsWithin: { start: at(0).toISOString(), end: at(90 * day).toISOString() },
        statuses: ["BOOKING_STATUS_CONFIRMED", "BOOKING_STATUS_PENDING"],
        pageSize: 500,
      },
      tenant,
    );
    for (const { id } of bookings) {
      const request = { bookingId: id, notify: false };
      await call("owner", "BookingService/AdminCancelBooking", request, tenant);
    }
  });

/**
 * A port below those that systems hand out by themselves: nobody takes it while whoever listens there is away. Chromium opens no page
 * on 10080.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 19_000);
    const server = createServer();
    const free = await new Promise<boolean>((done) => {
      server.once("error", () => done(false));
      server.listen(port, "127.0.0.1", () => done(true));
    });
    if (!free) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}

/** A Chromium of one test's own. */
export async function openBrowser(args: readonly string[]) {
  const own = await launch(args);
  return { browser: own, [Symbol.asyncDispose]: () => own.close() };
}

const launch = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    timeout: 2 * patience, // its first start on a machine reads all of it from the disk
    args: [
      "--no-sandbox", // CI runs as root
      "--disable-gpu",
      "--disable-quic",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A test's own provider is on this machine too.
      "--disable-features=LocalNetworkAccessChecks",
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
      ...args,
    ],
  });

interface Opening {
  readonly role?: Role;
  readonly tenant?: number;
  /** A server of the test's own. */
  readonly at?: Development;
  /** Empty: no page yet. */
  readonly path?: string;
  readonly scheme?: "light" | "dark";
  readonly locale?: string;
  readonly width?: number;
  readonly height?: number;
  /** Refusals that the test provokes. */
  readonly position?: { latitude: number; longitude: number };
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser complained of. Refused calls are told to people, so they are no complaint. */
  readonly complaints: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** A browser of one person, signed in by the demo page's own memory of them. */
export async function visit(how: Opening = {}, from: Browser = browser): Promise<Visit> {
  const { address, tenants } = how.at ?? berth();
  const context = await from.newContext({
    viewport: { width: how.width ?? 1360, height: how.height ?? 860 },
    colorScheme: how.scheme ?? "light",
    locale: how.locale ?? "en-GB",
    timezoneId: "Europe/Berlin",
    ...(how.position && { geolocation: how.position, permissions: ["geolocation"] }),
  });
  const person = how.role && {
    tenant: tenants[how.tenant ?? studio]?.id,
    subject: `demo-${how.role}`,
  };
  if (person) {
    await context.addInitScript((remembered) => {
      if (!sessionStorage.getItem("left")) localStorage.setItem("berth.person", remembered);
      sessionStorage.setItem("left", "1");
    }, JSON.stringify(person));
  }
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const refused = message.text().startsWith("Failed to load resource");
    if (!refused || !message.location().url.includes("/berth.v1.")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  if (how.path !== "") await page.goto(address + (how.path ?? "/"));
  return {
    page,
    context,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(complaints).toEqual([]);
    },
  };
}

/** Calls the API as somebody, to prepare what a test looks at. */
export async function call<T = Record<string, unknown>>(
  role: Role,
  method: string,
  body: object,
  tenant: number = studio,
): Promise<T> {
  const { address, tenants } = berth();
  const answer = await fetch(`${address}/berth.v1.${method}`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${tenants[tenant]?.tokens[role]}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method}: ${answer.status} ${text}`);
  return JSON.parse(text) as T;
}

interface Listed {
  readonly id: string;
  readonly name: string;
}

/**
 * Makes a session at the studio's first location, on sale. Nobody can be in two sessions at once: a test that books takes a day on
 * which no other test does, within the two weeks that can be booked.
 */
export async function makeSession(
  title: string,
  startsIn: number,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { locations } = await call<{ locations: Listed[] }>(
    "owner",
    "TenantService/ListLocations",
    {},
  );
  const { services } = await call<{ services: Listed[] }>(
    "owner",
    "TenantService/ListServices",
    {},
  );
  const { session } = await call<{ session: { id: string } }>(
    "owner",
    "SessionService/CreateSession",
    {
      session: {
        serviceId: services.find(({ name }) => name === "Vinyasa")?.id,
        locationId: locations.find(({ name }) => name === "Harbour")?.id,
        title,
        startTime: at(startsIn).toISOString(),
        ...more,
      },
      publish: true,
    },
  );
  return session.id;
}

/** Takes back that the member came to a session, so that another test has them at that hour. */
export async function leave(sessionId: string): Promise<void> {
  const { session } = await call<{ session: { eligibility: { bookingId: string } } }>(
    "member",
    "SessionService/GetSession",
    { sessionId },
  );
  const { bookingId } = session.eligibility;
  await call("owner", "CheckInService/UndoCheckIn", { bookingId });
  await call("owner", "BookingService/AdminCancelBooking", { bookingId });
}

/** What axe holds to be a serious fault, or worse. */
export async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html, failureSummary }) => `${html} ${failureSummary}`)
          .join(" | ")}`,
    );
}

/** Waits until everything that is on its way is there. The stream of events never is, so the network says nothing. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      !document.querySelector('[role="status"][aria-label="Loading"], .mantine-Skeleton-root') &&
      document.getAnimations().every(({ playState }) => playState !== "running"),
  );
}
