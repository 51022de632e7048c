import { Code, ConnectError } from "@connectrpc/connect";

/** An access token with its expiry. */
export interface Token {
  readonly token: string;
  /** When it expires. If absent, it is read from the token, if that is a JWT. */
  readonly expiresAt?: Date | undefined;
}

/** Fetches a valid access token, from your backend or an identity provider. */
export type Refresh = () => Promise<string | Token>;

/** The access tokens of a client. {@link credentials} makes them from a token and a refresh. */
export interface Credentials {
  /** The current token, renewed if needed; undefined for anonymous calls. */
  current(): Promise<string | undefined>;
  /** Called when the server rejects a token. Returns whether there is another one to try. */
  refused(token: string | undefined): Promise<boolean>;
  /** Called when a call fails because no token was accepted. The user has to sign in again. */
  expired?(): void;
}

/** A token is renewed this long before it expires, in ms, so that it does not expire in transit. */
const renewalMargin = 60_000;

/** Credentials with a first token and a way to fetch the next. Concurrent calls share one fetch. */
export function credentials(
  initial: string | undefined,
  refresh: Refresh | undefined,
  now: () => number = Date.now,
): Credentials {
  let held = initial === undefined ? undefined : withExpiry(initial, now());
  let fetching: Promise<HeldToken> | undefined;

  function fetch(refresh: Refresh): Promise<HeldToken> {
    fetching ??= refresh()
      .then((given) => {
        held = withExpiry(given, now());
        return held;
      })
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  }

  return {
    async current() {
      if (!refresh || (held && now() < held.renewAt)) return held?.token;
      try {
        return (await fetch(refresh)).token;
      } catch (error) {
        // The current token may still be valid while the issuer is unavailable.
        if (held && now() < held.expiresAt) return held.token;
        throw error;
      }
    },
    async refused(token) {
      if (!refresh) return false;
      // Another call may have fetched a new one.
      if (held && held.token !== token) return true;
      const fresh = await fetch(refresh).catch(() => undefined);
      return fresh !== undefined && fresh.token !== token;
    },
  };
}

/**
 * Fetches tokens for who has signed in with Berth itself, in this browser: a `refresh` for pages at the
 * server's own address. The cookie of the sign-in stays out of reach of scripts. The server refuses pages
 * of other origins, those that may call it, too. Nobody is signed in: `Code.Unauthenticated`.
 */
export async function ownSignIn(): Promise<Token> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("/auth/token", { method: "POST", headers, body: "{}" });
  if (!answer.ok) {
    const code = answer.status === 401 ? Code.Unauthenticated : Code.Unavailable;
    throw new ConnectError(`/auth/token: ${answer.status}`, code);
  }
  const { access_token, expires_at } = await answer.json();
  return { token: access_token, expiresAt: new Date(expires_at) };
}

interface HeldToken {
  readonly token: string;
  /** In ms since 1970. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

function withExpiry(given: string | Token, now: number): HeldToken {
  const { token, expiresAt: end } = typeof given === "string" ? { token: given } : given;
  const expiresAt = end?.getTime() ?? expiryOf(token);
  // Do not renew a token that is valid for a minute or two with every call.
  return { token, expiresAt, renewAt: expiresAt - Math.min(renewalMargin, (expiresAt - now) / 5) };
}

/** The expiry of a JWT, in ms since 1970; infinity for other tokens. */
function expiryOf(token: string): number {
  try {
    const claims = token.split(".")[1] ?? "";
    const { exp } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")));
    return typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
