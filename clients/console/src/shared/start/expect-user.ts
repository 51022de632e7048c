/*
 * What the first script of an app asks for while the others load: how users sign in, and who is
 * signed in already.
 */

import type { JsonValue } from "@bufbuild/protobuf";

/** How users sign in, as told by the server. */
export interface Config {
  /** Users sign in with the server itself. */
  readonly sign_in?: boolean;
  readonly issuer?: string;
  readonly client_id?: string;
  readonly scope?: string;
  readonly audience?: string;
  readonly link_by_email?: boolean;
  readonly development?: boolean;
}

export interface Person {
  readonly tenant: string;
  readonly subject: string;
}

export interface Identity {
  readonly subject: string;
  /** The email address, the name or else the subject: what the user knows the account by. */
  readonly account: string;
  /** The tenants that the token is valid for. */
  readonly tenants: readonly string[];
}

/** The keys of the demo user who is signed in, and of the chosen tenant. */
export const remembered = "berth.person";
export const chosenTenant = "berth.tenant";
/** The key that says that the browser was signed in with the server itself. Scripts do not see the cookie. */
export const signedInBefore = "berth.signed-in";

/** A user who signed in before, and will probably be signed in again without being asked. */
export interface Expected {
  readonly config: Promise<Config>;
  /** Whether there is such a user. */
  readonly user: boolean;
  /** The demo user, with a token. Only a server for development has demo users. */
  readonly demo: Promise<{ person: Person; token: string } | undefined>;
  /** A token of the user who signed in with the server itself. */
  readonly own: Promise<string | undefined>;
  /** Resolves when the calls have been sent. Scripts that load after that do not delay them. */
  readonly asked: Promise<void>;
  readonly answers: Promise<Answers | undefined>;
}

/** A call that the first page makes for sure, such as "TenantService/GetTenant". */
export type Call = readonly [method: string, request?: Readonly<Record<string, unknown>>];

/** The answers to calls by method, for a token. Calls that failed have none. */
export interface Answers {
  readonly token: string;
  readonly of: ReadonlyMap<string, JsonValue>;
  /** The user is no member of the tenant. */
  readonly stranger: boolean;
}

/** The name of ErrorReason.NOT_A_MEMBER, which loads later. */
const notAMember = "NOT_A_MEMBER";

const always: readonly Call[] = [["MemberService/GetMe"], ["TenantService/GetTenant"]];

/** Looks for a user, and makes the first calls for them. */
export function expectUser(calls: readonly Call[] = []): Expected {
  void import("./contract");
  const keys = [localStorage, sessionStorage].flatMap((store) => Object.keys(store));
  const config = fetched<Config>("/console/config.json");
  const demo = signInDemo();
  const own = signInOwn(config);
  const token = Promise.all([demo, own]).then(
    ([found, kept]) => found?.token ?? kept ?? keptToken(),
  );
  const answers = token.then((found) => ask(found, [...always, ...calls]));
  const asked = token.then(
    () => undefined,
    () => undefined,
  );
  // Those who need them handle errors.
  for (const asked of [config, demo, own, answers]) asked.catch(() => undefined);
  const known = [remembered, signedInBefore];
  const user = keys.some((key) => known.includes(key) || key.startsWith("oidc."));
  return { config, user, demo, own, asked, answers };
}

/** Asks for a token of the user who is signed in with the server itself, unless they are another one. */
async function signInOwn(config: Promise<Config>): Promise<string | undefined> {
  if (localStorage.getItem(remembered) || keptToken()) return undefined;
  const before = localStorage.getItem(signedInBefore) !== null;
  return before || (await config).sign_in ? ownToken() : undefined;
}

/** A token of the user who is signed in with the server itself; undefined if nobody is. */
export async function ownToken(): Promise<string | undefined> {
  const answer = await posted("/auth/token");
  if (answer.ok) {
    localStorage.setItem(signedInBefore, "1");
    return (await answer.json()).access_token;
  }
  await answer.text(); // what is not read keeps the request open
  if (answer.status !== 401) throw new Error(`/auth/token: ${answer.status}`);
  return undefined;
}

/** Sends JSON to the server itself, with the cookie of the browser's sign-in. */
export function posted(path: string, body: object = {}): Promise<Response> {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function signInDemo() {
  const stored = localStorage.getItem(remembered);
  if (!stored) return undefined;
  const person: Person = JSON.parse(stored);
  return { person, token: await demoToken(person) };
}

export async function demoToken(person: Person): Promise<string> {
  const body = new URLSearchParams({ ...person });
  const answer = await fetched<{ access_token: string }>("/dev/token", { method: "POST", body });
  return answer.access_token;
}

/** The token that the tab keeps of a user of a sign-in service. */
function keptToken(): string | undefined {
  const key = Object.keys(sessionStorage).find((name) => name.startsWith("oidc.user:"));
  const user = key && JSON.parse(sessionStorage.getItem(key) ?? "{}");
  return user && user.expires_at * 1000 > Date.now() ? user.access_token : undefined;
}

async function ask(
  token: string | undefined,
  calls: readonly Call[],
): Promise<Answers | undefined> {
  const tenantId = token && tenantOf(read(token));
  if (!tenantId) return undefined;
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const of = new Map<string, JsonValue>();
  let stranger = false;
  const call = async ([method, request]: Call) => {
    const body = JSON.stringify({ tenantId, ...request });
    const answer = await fetch(`/berth.v1.${method}`, { method: "POST", headers, body });
    const said = await answer.json();
    if (answer.ok) of.set(method, said);
    else stranger ||= said.reason === notAMember;
  };
  await Promise.allSettled(calls.map(call));
  return { token, of, stranger };
}

/** Makes the user the member with their email. Fails if there is none, or if emails do not link. */
export async function linkMe(token: string, tenantId: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ tenantId });
  await fetched("/berth.v1.MemberService/LinkMe", { method: "POST", headers, body });
}

/** Why an invitation is not accepted: it is somebody else's, its link is not valid, or nobody knows. */
export type InvitationFailure = "other" | "link" | "unreachable";

const invitationFailures: Record<string, InvitationFailure> = {
  ALREADY_EXISTS: "other",
  LINK_INVALID: "link",
};

/**
 * Makes the user the member whom a link invites, or confirms the address of who is that already. Says
 * why it cannot. What is refused since the user is no member is no failure: the next call says so.
 */
export async function acceptInvitation(
  token: string,
  tenantId: string,
  link: string,
): Promise<InvitationFailure | undefined> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ tenantId, link });
  const path = "/berth.v1.InvitationService/AcceptInvitation";
  const answer = await fetch(path, { method: "POST", headers, body });
  if (answer.ok || answer.status === 403) return undefined;
  const { reason } = await answer.json();
  return invitationFailures[reason] ?? "unreachable";
}

/** The claims of a token. They are not verified here: only the server does that. */
export function read(token: string): Identity {
  const [, body = ""] = token.split(".");
  const text = atob(body.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const { sub, email, name, tenants } = JSON.parse(new TextDecoder().decode(bytes));
  return {
    subject: sub,
    account: email || name || sub,
    tenants: Array.isArray(tenants) ? tenants : [],
  };
}

/** The tenant of a user: the chosen one, or the only one. "" if they must choose. */
export function tenantOf({ tenants }: Identity): string {
  const wanted = sessionStorage.getItem(chosenTenant) ?? "";
  const [only = ""] = tenants.length === 1 ? tenants : [];
  return tenants.includes(wanted) ? wanted : only;
}

export async function fetched<T>(path: string, init?: RequestInit): Promise<T> {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, ...init });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}
