import type { UserManager } from "oidc-client-ts";

/*
 * Who is signed in, in this tab. Tokens stay in memory (with a provider: in the tab's session
 * storage, so that a reload keeps them). For demo users only the name is stored, never a token.
 */

/** How users sign in, as told by the server. */
export interface Config {
  readonly issuer?: string;
  readonly client_id?: string;
  readonly scope?: string;
  readonly audience?: string;
  readonly development?: boolean;
}

export interface DemoTenant {
  readonly id: string;
  readonly name: string;
  readonly people: readonly { readonly subject: string; readonly role: string }[];
}

export interface Identity {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly subject: string;
  /** The tenants that the token is valid for. */
  readonly tenants: readonly string[];
}

export type AuthState =
  | { readonly kind: "starting" }
  | { readonly kind: "out"; readonly failure?: string }
  | { readonly kind: "in"; readonly identity: Identity; readonly tenant: string }
  /** The session has expired. The page stays until the user signs in again. */
  | { readonly kind: "expired"; readonly identity: Identity; readonly tenant: string };

/** Renew this long before a token expires, in ms. */
const ahead = 60_000;

const remembered = "berth.person";
const chosenTenant = "berth.tenant";

export class Auth {
  config: Config = {};
  #state: AuthState = { kind: "starting" };
  #listeners = new Set<() => void>();
  #manager: UserManager | undefined;
  #renewing: Promise<void> | undefined;
  #person: { tenant: string; subject: string } | undefined;

  /** base is the path of the app, "/" or "/app/". */
  constructor(readonly base: string) {}

  get state(): AuthState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  snapshot = (): AuthState => this.#state;

  #set(state: AuthState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  get #callback(): string {
    return `${location.origin}${this.base}auth/callback`;
  }

  async start(): Promise<void> {
    try {
      this.config = await fetched<Config>("/console/config.json");
      if (this.config.issuer && this.config.client_id) await this.#openProvider();
      const person = localStorage.getItem(remembered);
      if (this.#state.kind === "starting" && this.config.development && person) {
        this.#person = JSON.parse(person);
        await this.#renew();
      }
    } catch {
      // The user can sign in again.
    }
    if (this.#state.kind === "starting") this.#set({ kind: "out" });
  }

  async #openProvider(): Promise<void> {
    const { UserManager, WebStorageStateStore } = await import("oidc-client-ts");
    const { issuer = "", client_id = "", scope = "openid", audience } = this.config;
    this.#manager = new UserManager({
      authority: issuer,
      client_id,
      scope,
      redirect_uri: this.#callback,
      post_logout_redirect_uri: location.origin + this.base,
      automaticSilentRenew: false,
      userStore: new WebStorageStateStore({ store: sessionStorage }),
      ...(audience && { extraQueryParams: { audience } }),
    });
    if (location.pathname === new URL(this.#callback).pathname) {
      const user = await this.#manager.signinCallback(); // undefined in the sign-in popup
      if (!user) return;
      this.#accept(user.access_token);
      history.replaceState(null, "", typeof user.state === "string" ? user.state : this.base);
      return;
    }
    const user = await this.#manager.getUser();
    if (user && !user.expired) this.#accept(user.access_token);
    else if (user?.refresh_token) await this.#renew();
  }

  #accept(token: string): void {
    const identity = read(token);
    const wanted = sessionStorage.getItem(chosenTenant) ?? "";
    const only = identity.tenants.length === 1 ? (identity.tenants[0] ?? "") : "";
    this.#set({
      kind: "in",
      identity,
      tenant: identity.tenants.includes(wanted) ? wanted : only,
    });
  }

  /** Returns a valid token, renewed if needed. */
  async token(): Promise<string | undefined> {
    if (this.#state.kind !== "in") return undefined;
    if (this.#state.identity.expires - Date.now() < ahead) await this.renew();
    return this.#state.kind === "in" ? this.#state.identity.token : undefined;
  }

  /** Renews the token once for all concurrent callers. On failure the state becomes "expired". */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    const before = this.#state;
    try {
      if (this.#person) {
        const answer = await fetch("/dev/token", {
          method: "POST",
          body: new URLSearchParams(this.#person),
        });
        if (!answer.ok) throw new Error(answer.statusText);
        this.#accept((await answer.json()).access_token);
      } else {
        const user = await this.#manager?.signinSilent();
        if (!user) throw new Error("signed out");
        this.#accept(user.access_token);
      }
    } catch (error) {
      // Offline, the old token may still be valid.
      const unreachable = error instanceof TypeError;
      if (before.kind === "in" && !(unreachable && before.identity.expires > Date.now())) {
        this.#set({ ...before, kind: "expired" });
      }
    }
  }

  /** Called when the server rejects the token. */
  async refused(): Promise<boolean> {
    if (this.#state.kind !== "in") return false;
    await this.renew();
    return (this.#state as AuthState).kind === "in";
  }

  /** Asks the user to sign in again, over the open page. */
  expire(): void {
    if (this.#state.kind === "in") this.#set({ ...this.#state, kind: "expired" });
  }

  async be(tenant: string, subject: string): Promise<void> {
    this.#person = { tenant, subject };
    localStorage.setItem(remembered, JSON.stringify(this.#person));
    await this.#renew();
    if (this.#state.kind !== "in") this.#set({ kind: "out", failure: "people" });
  }

  /** Continues for a demo user whose token could not be renewed. */
  async resume(): Promise<void> {
    const { kind } = this.#state;
    if (kind !== "expired" || !this.#person) return;
    await this.#renew();
  }

  people(): Promise<readonly DemoTenant[]> {
    return fetched<readonly DemoTenant[]>("/dev/people.json");
  }

  /** Redirects to the provider and returns to the same page. */
  async signIn(): Promise<void> {
    const state = location.pathname + location.search;
    if (this.#state.kind === "expired") {
      const user = await this.#manager?.signinPopup(); // the page keeps what was typed
      if (user) this.#accept(user.access_token);
      return;
    }
    await this.#manager?.signinRedirect({ state });
  }

  choose(tenant: string): void {
    if (this.#state.kind !== "in") return;
    sessionStorage.setItem(chosenTenant, tenant);
    this.#set({ ...this.#state, tenant });
  }

  async signOut(): Promise<void> {
    localStorage.removeItem(remembered);
    sessionStorage.removeItem(chosenTenant);
    const manager = this.#person ? undefined : this.#manager;
    this.#person = undefined;
    this.#set({ kind: "out" });
    await manager?.removeUser();
    await manager?.signoutRedirect().catch(() => undefined);
  }
}

async function fetched<T>(path: string): Promise<T> {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/** The claims of a token. They are not verified here: only the server does that. */
export function read(token: string): Identity {
  const [, body = ""] = token.split(".");
  const bytes = Uint8Array.from(atob(body.replace(/-/g, "+").replace(/_/g, "/")), (c) =>
    c.charCodeAt(0),
  );
  const claims = JSON.parse(new TextDecoder().decode(bytes));
  return {
    token,
    expires: claims.exp * 1000,
    subject: claims.sub,
    tenants: Array.isArray(claims.tenants) ? claims.tenants : [],
  };
}
