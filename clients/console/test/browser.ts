import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { cpus, loadavg } from "node:os";
import { promisify } from "node:util";
import {
  type Browser,
  type BrowserContext,
  chromium,
  expect,
  type Page,
  test,
} from "@playwright/test";
import axe, { type RunOnly } from "axe-core";
import type { Built, Development } from "../../typescript/test/server";
import { launchOptions } from "./launch";

export type Role = "owner" | "admin" | "coach" | "member";
export const [studio, club, salon] = [0, 1, 2] as const;

/** What the setup built and started: one server per worker, so that workers share no data. */
export const built = (): Built => JSON.parse(process.env.BUILT ?? "");

/** The server of this worker. */
export function berth(): Development {
  const server = built().servers[test.info().parallelIndex];
  if (!server) throw new Error("this worker has no server");
  return server;
}

let browser: Browser;

export const hour = 3_600_000;
export const day = 24 * hour;

/**
 * The start of a test file, rounded up to five minutes. Times count from here, so that a test can
 * run over midnight.
 */
let testStart: number;

export const at = (ms: number) => new Date(testStart + ms);

/** The local date of a time, such as 2026-03-18. */
export const dateIn = (ms: number, timeZone = "Europe/Berlin") =>
  new Intl.DateTimeFormat("sv-SE", { timeZone }).format(at(ms));

/** In ms. Only failing tests wait this long. */
const timeout = 60_000;

/** A time limit in ms, extended on a busy machine. */
export const limit = (ms: number) => ms * Math.max(1, (2 * (loadavg()[0] ?? 0)) / cpus().length);

/**
 * Prepares a test file. Cancels the bookings of the demo users, takes them off the waitlists, and
 * raises the limits of messages.
 */
export function withBrowser(): void {
  testStart = Math.ceil(Date.now() / 300_000) * 300_000;
  test.beforeAll(async ({ browser: started }) => {
    browser = started;
    await Promise.all([
      raiseMessageLimits(),
      ...people.flatMap(cancelBookings),
      ...people.map(leaveWaitlists),
    ]);
  });
}

/** Emails above the daily limit would be sent to another channel. */
const raiseMessageLimits = () =>
  call("owner", "NotificationService/UpdateNotificationSettings", {
    settings: { emailPerDay: 100, pushPerDay: 100 },
    updateMask: "emailPerDay,pushPerDay",
  });

const people: readonly Role[] = ["owner", "admin", "coach", "member"];

/**
 * Cancels a demo user's bookings. The demo data books the member at times that depend on when it is
 * created, other test files book too, and a member cannot be in two sessions at once.
 */
const cancelBookings = (role: Role) =>
  [studio, club].map(async (tenant) => {
    const { bookings = [] } = await call<{ bookings?: { id: string }[] }>(
      role,
      "BookingService/ListBookings",
      {
        filter: {
          startsWithin: { start: at(0).toISOString(), end: at(90 * day).toISOString() },
          statuses: ["BOOKING_STATUS_CONFIRMED", "BOOKING_STATUS_PENDING"],
        },
        pageSize: 500,
      },
      tenant,
    );
    for (const { id } of bookings) {
      const request = { bookingId: id, overrideWindow: true, notify: false };
      await call("owner", "BookingService/CancelBooking", request, tenant);
    }
  });

/** Takes a demo user off the waitlists of the studio: the day decides where the demo data lets them wait. */
async function leaveWaitlists(role: Role): Promise<void> {
  const { entries = [] } = await call<{ entries?: { id: string }[] }>(
    role,
    "WaitlistService/ListWaitlistEntries",
    { pageSize: 500 },
  );
  for (const { id } of entries) await call(role, "WaitlistService/LeaveWaitlist", { entryId: id });
}

/**
 * A port below the ephemeral range, so that no other process takes it while its server is stopped.
 * Chromium blocks port 10080.
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

/** A Chromium of its own for one test. */
export async function openBrowser(args: readonly string[]) {
  const own = await chromium.launch({ ...launchOptions, args: [...launchOptions.args, ...args] });
  return { browser: own, [Symbol.asyncDispose]: () => own.close() };
}

/** Whom the page of `berth dev` signs in. */
export interface Person {
  readonly tenant: string;
  readonly subject: string;
}

let tenants = 0;

/** Makes an empty tenant with `berth tenant create`, and returns its first owner. */
export async function newTenant(name: string): Promise<Person> {
  const subject = `owner-${process.pid}-${tenants++}`;
  const { stdout } = await promisify(execFile)(
    built().binary,
    [
      ...["tenant", "create", "--name", name, "--time-zone", "Europe/Lisbon"],
      ...["--owner-subject", subject, "--owner-name", "Olga Owner"],
    ],
    { env: { ...process.env, DATABASE_URL: berth().database_url } },
  );
  return { tenant: stdout.trim(), subject };
}

/** Makes an empty tenant whose first owner is invited, and returns the link of the invitation. */
export async function newTenantByLink(name: string, email: string): Promise<string> {
  const { address, data, database_url } = berth();
  const { stdout } = await promisify(execFile)(
    built().binary,
    [
      ...["tenant", "create", "--name", name, "--time-zone", "Europe/Berlin", "--data", data],
      ...["--owner-name", "Olga Owner", "--owner-email", email, "--public-url", address],
    ],
    { env: { ...process.env, DATABASE_URL: database_url } },
  );
  return stdout.trim().split("\n")[1] ?? "";
}

interface Opening {
  readonly role?: Role;
  readonly tenant?: number;
  /** Someone of a tenant that the test has made, instead of a demo user. */
  readonly person?: Person;
  /** A server of the test's own. */
  readonly at?: Development;
  /** Empty: opens no page. */
  readonly path?: string;
  readonly scheme?: "light" | "dark";
  readonly locale?: string;
  readonly width?: number;
  readonly height?: number;
  /** Grants geolocation at this position. */
  readonly position?: { latitude: number; longitude: number };
  /** Nothing is cached. */
  readonly fresh?: boolean;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors in the browser console. Refused calls are not included: users are told about them. */
  readonly complaints: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** A context of one user, signed in through the demo page's storage. */
async function signIn(how: Opening, from: Browser): Promise<BrowserContext> {
  const { tenants } = how.at ?? berth();
  const context = await from.newContext({
    viewport: { width: how.width ?? 1360, height: how.height ?? 860 },
    colorScheme: how.scheme ?? "light",
    locale: how.locale ?? "en-GB",
    timezoneId: "Europe/Berlin",
    // Contrast is too low while something fades, such as a notification that closes by itself.
    reducedMotion: "reduce",
    ...(how.position && { geolocation: how.position, permissions: ["geolocation"] }),
  });
  const person =
    how.person ??
    (how.role && { tenant: tenants[how.tenant ?? studio]?.id, subject: `demo-${how.role}` });
  if (person) {
    await context.addInitScript((remembered) => {
      if (!sessionStorage.getItem("left")) {
        localStorage.clear(); // of earlier visits
        localStorage.setItem("berth.person", remembered);
      }
      sessionStorage.setItem("left", "1");
    }, JSON.stringify(person));
  }
  return context;
}

/**
 * Contexts that visits have left, by how they were opened. To load and compile the scripts of an
 * app takes longer than most tests.
 */
const left = new Map<string, BrowserContext[]>();

/** A page of one user, as in a browser that they have just opened. */
export async function visit(how: Opening = {}, from: Browser = browser): Promise<Visit> {
  const { path, ...who } = how;
  const key = how.role && from === browser && !how.fresh ? JSON.stringify(who) : "";
  const context = left.get(key)?.pop() ?? (await signIn(how, from));
  let changed = false;
  const page = await context.newPage();
  page.setDefaultTimeout(timeout);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    const { url } = message.location();
    const refused =
      message.text().startsWith("Failed to load resource") && /\/(berth\.v1\.|auth\/)/.test(url);
    // The preview of a mail allows no scripts, and the test runner's own are no exception.
    const blocked = message.text().startsWith("Blocked script execution") && url === "about:srcdoc";
    if (!refused && !blocked) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  if (path !== "") await page.goto((how.at ?? berth()).address + (path ?? "/"));
  return {
    page,
    get context() {
      changed = true;
      return context;
    },
    complaints,
    async [Symbol.asyncDispose]() {
      if (key && !changed && context.pages().length === 1) {
        await page.close();
        left.set(key, [...(left.get(key) ?? []), context]);
      } else {
        await context.close();
      }
      expect.soft(complaints).toEqual([]); // soft: it must not hide why the test failed
    },
  };
}

/** Calls the API as a role, to prepare a test. */
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

/** Has freed seats booked for those who wait, at any time of day and however late. */
export const promotes = () =>
  call("owner", "WaitlistService/UpdateWaitlistRules", {
    rules: {
      mode: "WAITLIST_MODE_AUTO_PROMOTE",
      promoteAfterCancellationWindow: true,
      promotionGrace: "0s",
      quietHours: { start: {}, end: {} },
    },
    updateMask: "mode,promoteAfterCancellationWindow,promotionGrace,quietHours",
  });

/**
 * Creates and publishes a session at the studio's first location. A member cannot be in two
 * sessions at once: a test that books uses a day that no other test uses, within the two weeks that
 * can be booked.
 */
export async function makeSession(
  title: string,
  startsIn: number,
  more: Record<string, unknown> = {},
): Promise<string> {
  const { locations } = await call<{ locations: Listed[] }>(
    "owner",
    "CatalogService/ListLocations",
    {},
  );
  const { services } = await call<{ services: Listed[] }>(
    "owner",
    "CatalogService/ListServices",
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

/** Undoes the member's check-in and booking, so that another test can use that time. */
export async function leave(sessionId: string): Promise<void> {
  const { session } = await call<{ session: { eligibility: { bookingId: string } } }>(
    "member",
    "SessionService/GetSession",
    { sessionId },
  );
  const { bookingId } = session.eligibility;
  await call("owner", "CheckInService/UndoCheckIn", { bookingId });
  await call("owner", "BookingService/CancelBooking", { bookingId, overrideWindow: true });
}

/** What axe looks for. Only the rules of color can find something in dark colors alone. */
const rules = {
  all: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] },
  color: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
} satisfies Record<string, RunOnly>;

/** Serious and critical violations that axe finds. */
export async function violations(page: Page, of: keyof typeof rules = "all"): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(
    (runOnly) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
        runOnly,
        resultTypes: ["violations"],
      }),
    rules[of],
  );
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ html, failureSummary }) => `${html} ${failureSummary}`)
          .join(" | ")}`,
    );
}

/**
 * Waits until loading and animations have finished. The network is never idle, because of the event
 * stream.
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      !document.querySelector('[role="status"][aria-label="Loading"], .mantine-Skeleton-root') &&
      document.getAnimations().every(({ playState }) => playState !== "running"),
  );
}
