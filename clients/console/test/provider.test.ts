import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import {
  berth,
  newTenant,
  type Person,
  settled,
  studio,
  type Visit,
  violations,
  visit,
  withBrowser,
} from "./browser";

withBrowser();

/*
 * A minimal OpenID provider that signs in one user without asking. Its access tokens are those of a
 * demo user, so that the server accepts them.
 */
const codes = new Map<string, { challenge: string; nonce: string }>();
const seen: string[] = [];
/** The token of whom the provider signs in. */
let account = "";
let issuer = "";

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

const provider = createServer(async (request, response) => {
  const url = new URL(request.url ?? "/", issuer);
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Allow-Headers", "*");
  const json = (value: object) => {
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(value));
  };
  if (request.method === "OPTIONS") return void response.end();
  if (url.pathname === "/.well-known/openid-configuration") {
    return json({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/end`,
    });
  }
  if (url.pathname === "/favicon.ico") return void response.writeHead(204).end();
  /** Answers with a page instead of a redirect, because the routes below see only full navigations. */
  const lead = (to: URL) => {
    response.setHeader("Content-Type", "text/html");
    const next = to.href.replaceAll("&", "&amp;");
    response.end(`<meta http-equiv="refresh" content="0;url=${next}">`);
  };
  if (url.pathname === "/end") {
    seen.push("end");
    return lead(new URL(url.searchParams.get("post_logout_redirect_uri") ?? ""));
  }
  if (url.pathname === "/authorize") {
    const query = url.searchParams;
    const prompt = query.has("prompt") ? ` ${query.get("prompt")}` : "";
    seen.push(
      `authorize ${query.get("response_type")} ${query.get("code_challenge_method")}${prompt}`,
    );
    const code = `code-${codes.size}`;
    codes.set(code, {
      challenge: query.get("code_challenge") ?? "",
      nonce: query.get("nonce") ?? "",
    });
    const back = new URL(query.get("redirect_uri") ?? "");
    back.search = new URLSearchParams({ code, state: query.get("state") ?? "" }).toString();
    return lead(back);
  }
  if (url.pathname === "/token") {
    let body = "";
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    const grant = form.get("grant_type");
    const asked = codes.get(form.get("code") ?? "");
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === "authorization_code" && asked?.challenge !== verifier) {
      return void response.writeHead(400).end();
    }
    seen.push(`token ${grant}`);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: "console",
      sub: "demo-coach",
      iat: now,
      exp: now + 600,
      nonce: asked?.nonce,
    };
    return json({
      access_token: account,
      token_type: "Bearer",
      expires_in: 600,
      refresh_token: "again",
      id_token: `${part({ alg: "none" })}.${part(claims)}.x`,
    });
  }
  response.writeHead(404).end();
});

test.beforeAll(async () => {
  await new Promise<void>((done) => provider.listen(0, "127.0.0.1", done));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
test.afterAll(() => provider.close());

/** Has the apps sign people in at the provider. */
async function withProvider({ page }: Visit): Promise<void> {
  await page.route("**/console/config.json", (route) =>
    route.fulfill({
      json: { issuer, client_id: "console", scope: "openid offline_access", audience: "berth" },
    }),
  );
  // The server adds the provider to its content security policy if it is configured.
  await page.route(
    (url) =>
      url.origin === berth().address &&
      !url.pathname.startsWith("/assets/") &&
      !url.pathname.includes("."),
    async (route) => {
      const answer = await route.fetch();
      const headers = answer.headers();
      const policy = headers["content-security-policy"]?.replace(
        "connect-src 'self'",
        `connect-src 'self' ${issuer}`,
      );
      await route.fulfill({
        response: answer,
        headers: { ...headers, ...(policy && { "content-security-policy": policy }) },
      });
    },
  );
}

test("signs in at an OpenID provider with PKCE and returns to the same page", async () => {
  await using there = await visit({ path: "" });
  const { page, complaints } = there;
  account = berth().tenants[studio]?.tokens.coach ?? "";
  await withProvider(there);
  await page.goto(`${berth().address}/policies?for=tenant`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Policies", level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/policies");
  expect(seen).toEqual(["authorize code S256", "token authorization_code"]);

  // A reload does not sign in again.
  await page.reload();
  await page.getByRole("heading", { name: "Policies", level: 1 }).waitFor();
  expect(seen.length).toBe(2);
  expect(complaints).toEqual([]);
});

/** A token of a person of a tenant, as the provider of this test gives it. */
async function tokenOf(person: Person): Promise<string> {
  const body = new URLSearchParams({ ...person });
  const answer = await fetch(`${berth().address}/dev/token`, { method: "POST", body });
  return (await answer.json()).access_token;
}

async function called<T>(token: string, method: string, body: object): Promise<T> {
  const answer = await fetch(`${berth().address}/berth.v1.${method}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method}: ${await answer.text()}`);
  return answer.json();
}

interface Invited {
  readonly person: Person;
  /** The last part of the link. */
  readonly link: string;
  readonly confirmed: () => Promise<boolean>;
}

/** Makes a member with an account, the only one of their role, and invites them. */
async function invited(owner: Person, name: string, role = ""): Promise<Invited> {
  const by = await tokenOf(owner);
  const person = { tenant: owner.tenant, subject: `${name} ${owner.subject}` };
  const email = `${name}.${owner.subject}@example.com`.toLowerCase();
  type Made = { member: { id: string; emailConfirmed?: boolean } };
  const { member } = await called<Made>(by, "MemberService/CreateMember", {
    member: { name, email, subject: person.subject },
  });
  const assigned = { memberId: member.id, role };
  if (role) await called(by, "AccessService/AssignRole", assigned);
  const invitations = [{ memberId: member.id }];
  await called(by, "InvitationService/BatchCreateInvitations", { invitations });
  let link = "";
  await expect(async () => {
    const answer = await fetch(`${berth().address}/dev/mails.json`);
    const mails: { to: string; text: string }[] = await answer.json();
    const text = mails.find(({ to }) => to === email)?.text ?? "";
    link = /\/invite\/(\S+)/.exec(text)?.[1] ?? "";
    expect(link).not.toBe("");
  }).toPass();
  const confirmed = async () => {
    const read = await called<Made>(by, "MemberService/GetMember", { memberId: member.id });
    return read.member.emailConfirmed ?? false;
  };
  return { person, link, confirmed };
}

for (const width of [1440, 390]) {
  test(`accepts one's own invitation only, ${width} pixels wide`, async () => {
    const owner = await newTenant(`Invited ${width}`);
    const [mia, eve] = [await invited(owner, "Mia"), await invited(owner, "Eve", "coach")];
    account = await tokenOf(mia.person);
    seen.length = 0;
    await using there = await visit({ path: "", width });
    const { page } = there;
    await withProvider(there);
    const app = page.getByRole("link", { name: "Bookings" }).first();
    await page.goto(`${berth().address}/app/`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await app.waitFor();

    // She is a member already, and signed in.
    await page.goto(`${berth().address}/app/bookings?invitation=${mia.link}`);
    await page.getByRole("heading", { name: "My bookings" }).waitFor();
    expect(page.url()).toBe(`${berth().address}/app/bookings`);
    expect(await mia.confirmed()).toBe(true);

    await page.goto(`${berth().address}/app/?invitation=${mia.link}`);
    await page.getByRole("heading", { name: "This invitation is not valid" }).waitFor();
    expect(page.url()).toBe(`${berth().address}/app/`);
    expect(await violations(page)).toEqual([]);
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/used-invitation-${width}.png` });
    await page.getByRole("button", { name: "Go on without it" }).click();
    await app.waitFor();

    // Somebody else's, on a shared computer.
    await page.goto(`${berth().address}/app/bookings?invitation=${eve.link}`);
    await page.getByRole("heading", { name: "This invitation is for somebody else" }).waitFor();
    await page.getByText("You are signed in as Mia").waitFor();
    expect(page.url()).toBe(`${berth().address}/app/bookings`);
    await settled(page);
    expect(await violations(page)).toEqual([]);
    if (process.env.SHOTS)
      await page.screenshot({ path: `${process.env.SHOTS}/others-invitation-${width}.png` });
    expect(await eve.confirmed()).toBe(false);

    account = await tokenOf(eve.person);
    await page.getByRole("button", { name: "Sign out and go on" }).click();
    await page.getByText("to accept the invitation").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await app.waitFor();
    expect(await eve.confirmed()).toBe(true);
    expect(new URL(page.url()).search).toBe("");
    expect(seen.filter((request) => !request.startsWith("token"))).toEqual([
      "authorize code S256",
      "end",
      "authorize code S256 login",
    ]);
  });
}
