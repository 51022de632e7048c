import type { UserManager } from "oidc-client-ts";

/*
 * Who is signed in, in this tab. Tokens stay in memory (with a provider: in the tab's session
 * storage, so that a reload keeps them); what a tab remembers of a demo person is a name, no token.
 */

/** How people sign in here, as the server says. */
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
  /** What the token is good for. */
  readonly tenants: readonly string[];
}

export type AuthState =
  | { readonly kind: "starting" }
  | { readonly kind: "out"; readonly failure?: string }
  | { readonly kind: "in"; readonly identity: Identity; readonly tenant: string }
  /** Was signed in; the page stays as it is until they are again. */
  | { readonly kind: "expired"; readonly identity: Identity; readonly tenant: string };

/** Renew this long before a token ends. */
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

  /** base is the app's path, "/" or "/app/". */
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
      // They can sign in again.
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
      const user = await this.#manager.signinCallback(); // undefined in the window that popped up
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

  /** A token that is good for a while, renewed where it has to be. */
  async token(): Promise<string | undefined> {
    if (this.#state.kind !== "in") return undefined;
    if (this.#state.identity.expires - Date.now() < ahead) await this.renew();
    return this.#state.kind === "in" ? this.#state.identity.token : undefined;
  }

  /** Renews the token once for all who ask at the same time. What fails shows as "expired". */
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
      // Without a connection the old token may still be good.
      const unreachable = error instanceof TypeError;
      if (before.kind === "in" && !(unreachable && before.identity.expires > Date.now())) {
        this.#set({ ...before, kind: "expired" });
      }
    }
  }

  /** The server does not take the token any more. */
  async refused(): Promise<boolean> {
    if (this.#state.kind !== "in") return false;
    await this.renew();
    return (this.#state as AuthState).kind === "in";
  }

  /** Tells a page that is open that it has to sign in again; its contents stay. */
  expire(): void {
    if (this.#state.kind === "in") this.#set({ ...this.#state, kind: "expired" });
  }

  async be(tenant: string, subject: string): Promise<void> {
    this.#person = { tenant, subject };
    localStorage.setItem(remembered, JSON.stringify(this.#person));
    await this.#renew();
    if (this.#state.kind !== "in") this.#set({ kind: "out", failure: "people" });
  }

  /** Lets a demo person whose token could not be renewed go on. */
  async resume(): Promise<void> {
    const { kind } = this.#state;
    if (kind !== "expired" || !this.#person) return;
    await this.#renew();
  }

  people(): Promise<readonly DemoTenant[]> {
    return fetched<readonly DemoTenant[]>("/dev/people.json");
  }

  /** Goes to the provider, and comes back to the same place. */
  async signIn(): Promise<void> {
    const state = location.pathname + location.search;
    if (this.#state.kind === "expired") {
      const user = await this.#manager?.signinPopup(); // what is typed in this page stays
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

/** What a token says of itself. The server believes only what it has verified. */
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
