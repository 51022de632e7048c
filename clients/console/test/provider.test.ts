import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@playwright/test";
import { berth, studio, visit, withBrowser } from "./browser";

withBrowser();

/*
 * A minimal OpenID provider that signs in one user without asking. Its access tokens are those of a
 * demo user, so that the server accepts them.
 */
const codes = new Map<string, { challenge: string; nonce: string }>();
const seen: string[] = [];
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
    });
  }
  if (url.pathname === "/favicon.ico") return void response.writeHead(204).end();
  if (url.pathname === "/authorize") {
    const query = url.searchParams;
    seen.push(`authorize ${query.get("response_type")} ${query.get("code_challenge_method")}`);
    const code = `code-${codes.size}`;
    codes.set(code, {
      challenge: query.get("code_challenge") ?? "",
      nonce: query.get("nonce") ?? "",
    });
    const back = new URL(query.get("redirect_uri") ?? "");
    back.search = new URLSearchParams({ code, state: query.get("state") ?? "" }).toString();
    // A page instead of a redirect, because the route below sees only full navigations.
    const next = back.href.replaceAll("&", "&amp;");
    response.setHeader("Content-Type", "text/html");
    return void response.end(`<meta http-equiv="refresh" content="0;url=${next}">`);
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
    const token = berth().tenants[studio]?.tokens.coach ?? "";
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
      access_token: token,
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

test("signs in at an OpenID provider with PKCE and returns to the same page", async () => {
  await using there = await visit({ path: "" });
  const { page, complaints } = there;
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
