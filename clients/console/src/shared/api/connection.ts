import {
  type BerthConnection,
  createBerthConnection,
  createCachingTransport,
} from "@berthhq/client";
import { QueryClient } from "@tanstack/react-query";
import type { Auth } from "../auth/auth";
import { Store } from "../state/store";

/** Its state tells whether the last request failed to reach the server. */
export class Connection extends Store<boolean> {
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** back is called when the server is reachable again. */
  constructor(readonly back: () => void) {
    super(false);
  }

  lost(): void {
    if (this.state) return;
    this.set(true);
    this.#probeLater();
  }

  found(): void {
    if (!this.state) return;
    clearTimeout(this.#timer);
    this.set(false);
    this.back();
  }

  /** Checks immediately whether the server is reachable. */
  async probe(): Promise<void> {
    clearTimeout(this.#timer);
    const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => undefined);
    if (answer?.ok) {
      this.found();
      return;
    }
    this.lost();
    this.#probeLater();
  }

  #probeLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.probe(), 2000);
  }
}

/** The connection to the server, for the signed-in user and the chosen tenant. */
export function openApi(auth: Auth, connection: Connection): BerthConnection {
  return createBerthConnection({
    baseUrl: location.origin,
    credentials: auth,
    tenantId: () => ("tenant" in auth.state ? auth.state.tenant : undefined),
    transport: (to) => createCachingTransport({ ...to, useBinaryFormat: true }),
    timeoutMs: 0, // large imports and previews take as long as they take
    onReachable: () => connection.found(),
    onUnreachable: () => connection.lost(),
  });
}

export function openQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The transport already retries.
        retry: false,
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: true,
        // Whether the server is reachable shows by trying: it may run on this machine.
        networkMode: "always",
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
