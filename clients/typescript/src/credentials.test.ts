import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, it, vi } from "vitest";
import { credentials, ownSignIn, type Token } from "./credentials.js";

/** A JWT with an expiry, in seconds since 1970. */
function jwt(exp: number): string {
  return `e30.${btoa(JSON.stringify({ exp, name: "Zoë?>" }).replace("ë", "e"))}.c2ln`
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

describe("credentials", () => {
  it("keep using a token that cannot be renewed", async () => {
    const held = credentials(jwt(100), undefined, () => 200_000);
    expect(await held.current()).toBe(jwt(100));
    expect(await held.refused(jwt(100))).toBe(false);
  });

  it("are anonymous without a token", async () => {
    expect(await credentials(undefined, undefined).current()).toBeUndefined();
  });

  it.each<[string, (ends: number) => string | Token]>([
    ["a JWT's own word", (ends) => jwt(ends)],
    ["what the refresh says", (ends) => ({ token: `t${ends}`, expiresAt: new Date(ends * 1000) })],
  ])("are renewed one minute before they expire, by %s", async (_, token) => {
    let now = 0;
    const refresh = vi.fn(async () => token(now / 1000 + 600));
    const held = credentials(undefined, refresh, () => now);
    const first = await held.current();
    now = 539_999;
    expect(await held.current()).toBe(first);
    expect(refresh).toHaveBeenCalledTimes(1);
    now = 540_000;
    expect(await held.current()).not.toBe(first);
    expect(refresh).toHaveBeenCalledTimes(2);
  });

  it("that are valid for one minute are not renewed with every call", async () => {
    let now = 0;
    const refresh = vi.fn(async () => ({ token: "short", expiresAt: new Date(now + 60_000) }));
    const held = credentials(undefined, refresh, () => now);
    await held.current();
    now = 47_000;
    await held.current();
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it("are fetched once for concurrent calls", async () => {
    const refresh = vi.fn(async () => "fresh");
    const held = credentials("old", refresh, () => 0);
    const all = await Promise.all([held.refused("old"), held.refused("old"), held.refused("old")]);
    expect(all).toEqual([true, true, true]);
    expect(refresh).toHaveBeenCalledTimes(1);
    // A late call that was rejected with the old token finds the new one.
    expect(await held.refused("old")).toBe(true);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await held.current()).toBe("fresh");
  });

  it("report no other token if refresh returns the same one", async () => {
    const held = credentials("same", async () => "same");
    expect(await held.refused("same")).toBe(false);
  });

  it("stay usable during an outage of the issuer until they expire", async () => {
    let now = 0;
    const held = credentials(
      jwt(600),
      async () => {
        throw new Error("down");
      },
      () => now,
    );
    now = 599_999;
    expect(await held.current()).toBe(jwt(600));
    now = 600_000;
    await expect(held.current()).rejects.toThrow("down");
    // The next call asks again.
    await expect(held.current()).rejects.toThrow("down");
  });
});

describe("the sign-in with the server itself", () => {
  afterEach(() => void vi.unstubAllGlobals());

  const answering = (status: number, body: unknown = {}) => {
    const fetched = vi.fn(async () => Response.json(body, { status }));
    vi.stubGlobal("fetch", fetched);
    return fetched;
  };

  it("gives a token for the browser's cookie", async () => {
    const fetched = answering(200, { access_token: "t", expires_at: "2030-01-31T09:15:00Z" });
    const held = credentials(undefined, ownSignIn, () => Date.parse("2030-01-31T09:00:00Z"));
    expect(await held.current()).toBe("t");
    expect(await held.current()).toBe("t");
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(fetched).toHaveBeenCalledWith("/auth/token", {
      method: "POST",
      headers: { "Content-Type": "application/json" }, // without it, the server takes it for another site's
      body: "{}",
    });
  });

  it.each([
    [401, Code.Unauthenticated],
    [429, Code.Unavailable],
    [503, Code.Unavailable],
  ])("says after %s whether to sign in, or to try again", async (status, code) => {
    answering(status);
    const failed = await ownSignIn().catch(ConnectError.from);
    expect(failed).toBeInstanceOf(ConnectError);
    expect((failed as ConnectError).code).toBe(code);
  });
});
