/** A token, as a refresh gives it. */
export interface Token {
  readonly token: string;
  /** When it ends. Left out, the token itself is asked, if it is a JWT. */
  readonly expiresAt?: Date | undefined;
}

/** Fetches a token that is good from now on: from your own backend, or from an identity provider. */
export type Refresh = () => Promise<string | Token>;

/** The tokens that calls are made with. */
export interface Credentials {
  /** The token to call with now; nothing where calls are nobody's. */
  current(): Promise<string | undefined>;
  /** Tells that a token was refused. Says whether there is another to try. */
  refused(token: string | undefined): Promise<boolean>;
}

/** A token is renewed this long before it ends, in ms, so that it does not end under way. */
const margin = 60_000;

/** Calls that need a token while one is being fetched wait for that one. */
export function credentials(
  initial: string | undefined,
  refresh: Refresh | undefined,
  now: () => number = Date.now,
): Credentials {
  let held = initial === undefined ? undefined : lasting(initial, now());
  let fetching: Promise<Held> | undefined;

  function fetch(refresh: Refresh): Promise<Held> {
    fetching ??= refresh()
      .then((given) => {
        held = lasting(given, now());
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
        // What is held may be old, and still be good for a minute of trouble at the issuer's.
        if (held && now() < held.expiresAt) return held.token;
        throw error;
      }
    },
    async refused(token) {
      if (!refresh) return false;
      // Another call may have fetched one in the meantime.
      if (held && held.token !== token) return true;
      return (await fetch(refresh)).token !== token;
    },
  };
}

interface Held {
  readonly token: string;
  /** In ms since the epoch. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

function lasting(given: string | Token, now: number): Held {
  const { token, expiresAt: end } = typeof given === "string" ? { token: given } : given;
  const expiresAt = end?.getTime() ?? expiryOf(token);
  // A token that lives for a minute or two is not renewed with every call.
  return { token, expiresAt, renewAt: expiresAt - Math.min(margin, (expiresAt - now) / 5) };
}

/** When a JWT ends, by its own word, in ms since the epoch; never, for anything else. */
function expiryOf(token: string): number {
  try {
    const claims = token.split(".")[1] ?? "";
    const { exp } = JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/")));
    return typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
