import { type Credentials, credentials } from "@berthhq/client";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UserManager } from "oidc-client-ts";
import {
  acceptInvitation,
  type Config,
  chosenTenant,
  demoToken,
  type Expected,
  fetched,
  type Identity,
  type InvitationFailure,
  linkMe,
  ownToken,
  type Person,
  posted,
  read,
  remembered,
  signedInBefore,
  tenantOf,
} from "../start/expect-user";
import { Store } from "../state/store";
import { makePasskey, signWithPasskey } from "./passkeys";

/*
 * Who is signed in, in this tab. Tokens stay in memory (with a provider: in the tab's session
 * storage, so that a reload keeps them). Who signed in with the server itself has a cookie, which no
 * script sees. For demo users only the name is stored, never a token.
 */

export interface DemoTenant {
  readonly id: string;
  readonly name: string;
  readonly people: readonly { readonly subject: string; readonly role: string }[];
}

/** A page of tenants. */
export interface DemoTenants {
  readonly tenants: readonly DemoTenant[];
  /** The id of the last one, if more follow. */
  readonly after?: string;
}

/** A mail about signing in that a server for development keeps instead of sending it. */
export interface DemoMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export type { InvitationFailure };

export type AuthState =
  | { readonly kind: "starting" }
  | { readonly kind: "out"; readonly failure?: string }
  | { readonly kind: "in"; readonly identity: Identity; readonly tenant: string }
  /** The user has opened the link of an invitation, which is being accepted or could not be. */
  | {
      readonly kind: "invited";
      readonly identity: Identity;
      readonly tenant: string;
      readonly failure?: InvitationFailure;
    }
  /** The user is no member of the tenant. */
  | {
      readonly kind: "stranger";
      readonly identity: Identity;
      readonly tenant: string;
      /** Whether it is being tried to make them the member with their email. */
      readonly linking: boolean;
    }
  /** The session has expired, or is not enough. The page stays until the user signs in again. */
  | {
      readonly kind: "expired";
      readonly identity: Identity;
      readonly tenant: string;
      readonly stepUp?: StepUp;
    };

/** The sign-in that the organization asks for: parameters of OpenID Connect. */
export interface StepUp {
  readonly max_age?: number;
  readonly acr_values?: string;
}

/** Why signing in with a code or a passkey failed. */
export type CodeFailure = "code" | "address" | "tooMany" | "unreachable" | "cookies" | "passkey";

/** What became of adding a passkey. */
export type KeyOutcome = "added" | "left" | "known" | "tooMany" | "again" | "later" | "failed";

export class Auth extends Store<AuthState> implements Credentials {
  config: Config = {};
  #manager: UserManager | undefined;
  #tokens = credentials(undefined, undefined);
  #person: Person | undefined;
  /** The user signed in with the server itself. */
  #own = false;
  /** The tenants in which it was tried to link the user's account. */
  readonly #tried = new Set<string>();
  /** The link of the invitation that is being accepted. */
  #invitation = "";
  /** The user has signed out to go on as somebody else. */
  #another = false;

  /** base is the path of the app, "/" or "/app/". */
  constructor(readonly base: string) {
    super({ kind: "starting" });
    // Who signs out in one tab is out in all: the next person at the computer shall see nothing.
    addEventListener("storage", ({ key, newValue }) => {
      if (!this.#own || key !== signedInBefore || newValue !== null) return;
      this.#own = false;
      this.set({ kind: "out" });
    });
  }

  get #callback(): string {
    return `${location.origin}${this.base}auth/callback`;
  }

  async start(expected: Expected): Promise<void> {
    const kept = sessionStorage.getItem(keptInvitation);
    if (kept) this.#keepInvitation(kept);
    this.#another = kept !== null;
    try {
      this.config = await expected.config;
      if (this.config.issuer && this.config.client_id) await this.#openProvider();
      const { development } = this.config;
      const demo = this.state.kind === "starting" && development && (await expected.demo);
      if (demo) {
        this.#person = demo.person;
        this.#accept(demo.token);
      }
      const asks = this.state.kind === "starting" && !this.invited;
      const own = asks && (await expected.own);
      if (own) {
        this.#own = true;
        this.#accept(own);
      }
    } catch {
      // The user can sign in again.
    }
    if (this.state.kind === "starting") this.set({ kind: "out" });
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
      history.replaceState(null, "", typeof user.state === "string" ? user.state : this.base);
      this.#accept(user.access_token);
      return;
    }
    const user = await this.#manager.getUser();
    if (user && !user.expired) this.#accept(user.access_token);
    else if (user?.refresh_token) await this.#renew();
  }

  #accept(token: string): void {
    this.#tokens = credentials(token, () => this.#renew());
    const identity = read(token);
    if (this.state.kind === "invited") this.set({ ...this.state, identity });
    else this.#enter(identity, tenantOf(identity));
  }

  /** Goes on in a tenant, or accepts an invitation there first. */
  #enter(identity: Identity, tenant: string): void {
    const page = new URL(location.href);
    const invitation = page.searchParams.get(invitationParameter);
    if (!invitation || tenant === "") {
      this.set({ kind: "in", identity, tenant });
      return;
    }
    page.searchParams.delete(invitationParameter);
    history.replaceState(null, "", page); // it is good once
    sessionStorage.removeItem(keptInvitation);
    this.#invitation = invitation;
    this.set({ kind: "invited", identity, tenant });
    void this.acceptInvitation();
  }

  /** Accepts the invitation that the user has opened, whoever they are: the server knows whether it is theirs. */
  async acceptInvitation(): Promise<void> {
    if (this.state.kind !== "invited") return;
    const { identity, tenant } = this.state;
    this.set({ kind: "invited", identity, tenant });
    const failure = await this.#tokens
      .current()
      .then((token = "") => acceptInvitation(token, tenant, this.#invitation))
      .catch((): InvitationFailure => "unreachable");
    if (this.state.kind !== "invited") return;
    if (failure) this.set({ ...this.state, failure });
    else this.leaveInvitation();
  }

  /** Goes on without the invitation. */
  leaveInvitation(): void {
    if (this.state.kind !== "invited") return;
    const { identity, tenant } = this.state;
    this.#invitation = "";
    this.set({ kind: "in", identity, tenant });
  }

  /** Signs out, to accept the invitation as somebody else. */
  async signOutInvited(): Promise<void> {
    this.#another = true;
    this.#keepInvitation(this.#invitation);
    await this.signOut();
  }

  /** Lets the user choose another tenant, in which the invitation may be good. */
  chooseInvited(): void {
    this.#keepInvitation(this.#invitation);
    this.choose("");
  }

  /** Keeps an invitation for whom the tab signs in next. A provider's page does not lead back to this URL. */
  #keepInvitation(link: string): void {
    sessionStorage.setItem(keptInvitation, link);
    const page = new URL(location.href);
    page.searchParams.set(invitationParameter, link);
    history.replaceState(null, "", page);
  }

  async current(): Promise<string | undefined> {
    if (this.state.kind !== "in") throw signedOut();
    return this.#tokens.current();
  }

  async refused(token: string | undefined): Promise<boolean> {
    return this.state.kind === "in" && this.#tokens.refused(token).catch(() => false);
  }

  /**
   * Shows that the user is no member of the tenant. No call is made from then on, but one that makes
   * them the member with their email, if emails link.
   */
  stranger(): void {
    if (this.state.kind !== "in") return;
    const { tenant } = this.state;
    const linking = this.config.link_by_email === true && !this.#tried.has(tenant);
    this.#tried.add(tenant);
    this.set({ ...this.state, kind: "stranger", linking });
    if (linking) void this.#link(tenant);
  }

  async #link(tenant: string): Promise<void> {
    const linked = await this.#tokens
      .current()
      .then((token = "") => linkMe(token, tenant))
      .then(
        () => true,
        () => false,
      );
    const { state } = this;
    if (state.kind !== "stranger" || state.tenant !== tenant) return;
    const { identity } = state;
    this.set(linked ? { kind: "in", identity, tenant } : { ...state, linking: false });
  }

  /** Asks the user to sign in again, over the open page. */
  expired(stepUp?: StepUp): void {
    if (this.state.kind === "in")
      this.set({ ...this.state, kind: "expired", ...(stepUp && { stepUp }) });
  }

  /** Continues with the sign-in that the user has. */
  keep(): void {
    if (this.state.kind === "expired") this.set({ ...this.state, kind: "in" });
  }

  /** Fetches a token and accepts it. */
  async #renew(): Promise<string> {
    const asked = this.#person ? demoToken(this.#person) : this.#silentToken();
    const token = await asked.catch((error) => {
      // Offline, the old token may still be valid, and while the server has no time for it.
      throw error instanceof TypeError || this.#own ? error : signedOut();
    });
    this.#accept(token);
    return token;
  }

  async #silentToken(): Promise<string> {
    if (this.#own) {
      const token = await ownToken();
      if (!token) throw signedOut();
      return token;
    }
    const user = await this.#manager?.signinSilent();
    if (!user) throw signedOut();
    return user.access_token;
  }

  async be(tenant: string, subject: string): Promise<void> {
    this.#person = { tenant, subject };
    localStorage.setItem(remembered, JSON.stringify(this.#person));
    await this.#renew().catch(() => this.set({ kind: "out", failure: "people" }));
  }

  /** Whether the page is for accepting an invitation with an account of the provider. */
  get invited(): boolean {
    const page = new URL(location.href);
    return this.#manager !== undefined && page.searchParams.has(invitationParameter);
  }

  /** Whether the user signed in with the server itself. */
  get own(): boolean {
    return this.#own;
  }

  /** Continues for a demo user whose token could not be renewed. */
  async resume(): Promise<void> {
    if (this.state.kind !== "expired" || !this.#person) return;
    await this.#renew().catch(() => undefined);
  }

  /** Asks for a mail with a code. The answer is the same for addresses that nobody has. */
  async sendCode(email: string): Promise<{ request: string } | { failure: CodeFailure }> {
    const answer = await posted("/auth/code", { email }).catch(() => undefined);
    if (answer?.ok) return answer.json();
    if (answer?.status === 400) return { failure: "address" };
    return { failure: answer?.status === 429 ? "tooMany" : "unreachable" };
  }

  /** Signs in with the code of a mail, or says why it cannot. */
  async signInByCode(request: string, code: string): Promise<CodeFailure | undefined> {
    const answer = await posted("/auth/sign-in", { request, code }).catch(() => undefined);
    return this.#signedIn(answer, "code");
  }

  /** Signs in with a passkey, or says why it cannot. */
  async signInByPasskey(): Promise<CodeFailure | undefined> {
    const asked = await posted("/auth/passkey/options").catch(() => undefined);
    if (asked?.status === 429) return "tooMany";
    if (!asked?.ok) return asked?.status === 401 ? "passkey" : "unreachable";
    const { request, options } = await asked.json();
    const made = await signWithPasskey(options);
    if ("refusal" in made) return made.refusal === "left" ? undefined : "passkey";
    const { credential } = made;
    const answer = await posted("/auth/passkey", { request, credential }).catch(() => undefined);
    return this.#signedIn(answer, "passkey");
  }

  /** Adds a passkey of this browser's, with which the user signs in to the tenant. */
  async addPasskey(tenant: string): Promise<KeyOutcome> {
    const asked = await posted("/auth/passkeys/options", { tenant }).catch(() => undefined);
    if (!asked?.ok) return refusals[asked?.status ?? 0] ?? "failed";
    const { request, options } = await asked.json();
    const made = await makePasskey(options);
    if ("refusal" in made) return made.refusal;
    const { credential } = made;
    const answer = await posted("/auth/passkeys", { request, credential }).catch(() => undefined);
    return answer?.ok ? "added" : (refusals[answer?.status ?? 0] ?? "failed");
  }

  /** Goes on as whom the browser has signed in as, or says why it has not. */
  async #signedIn(
    answer: Response | undefined,
    refused: CodeFailure,
  ): Promise<CodeFailure | undefined> {
    if (answer?.status === 401) return refused;
    if (answer?.status === 429) return "tooMany";
    if (!answer?.ok) return "unreachable";
    try {
      const token = await ownToken();
      if (!token) return "cookies"; // the browser kept none
      localStorage.removeItem(remembered);
      this.#person = undefined;
      this.#own = true;
      this.#accept(token);
      return undefined;
    } catch {
      return "unreachable";
    }
  }

  /** Tenants whose name has the text query, after those of the page before. */
  people(query: string, after: string): Promise<DemoTenants> {
    return fetched<DemoTenants>(`/dev/people.json?${new URLSearchParams({ query, after })}`);
  }

  /** The newest mails first. */
  mails(): Promise<readonly DemoMail[]> {
    return fetched<readonly DemoMail[]>("/dev/mails.json");
  }

  /** Redirects to the provider and returns to the same page. */
  async signIn(): Promise<void> {
    const state = location.pathname + location.search;
    if (this.state.kind === "expired") {
      const user = await this.#manager?.signinPopup(this.state.stepUp); // the page keeps what was typed
      if (user) this.#accept(user.access_token);
      return;
    }
    // A provider that keeps the user signed in would return the same one.
    await this.#manager?.signinRedirect({ state, ...(this.#another && { prompt: "login" }) });
  }

  /** Goes on in a tenant; "" to choose one. */
  choose(tenant: string): void {
    if (!("identity" in this.state) || this.state.kind === "expired") return;
    sessionStorage.setItem(chosenTenant, tenant);
    this.#enter(this.state.identity, tenant);
  }

  async signOut(): Promise<void> {
    localStorage.removeItem(remembered);
    sessionStorage.removeItem(chosenTenant);
    const manager = this.#person || this.#own ? undefined : this.#manager;
    this.#person = undefined;
    if (this.#own) {
      const answer = await posted("/auth/sign-out").catch(() => undefined);
      if (!answer?.ok) return this.set({ kind: "out", failure: "sign-out" });
      this.#own = false;
      localStorage.removeItem(signedInBefore);
    }
    this.set({ kind: "out" });
    await manager?.removeUser();
    await manager?.signoutRedirect().catch(() => undefined);
  }
}

/** The parameter of a page's URL with the link of an invitation, which the server leads to. */
const invitationParameter = "invitation";
/** The key of the link of an invitation, while its user signs out and in again. */
const keptInvitation = "berth.invitation";

/** What a status says about adding a passkey. */
const refusals: Record<number, KeyOutcome> = { 403: "again", 409: "tooMany", 429: "later" };

const signedOut = () => new ConnectError("signed out", Code.Unauthenticated);
