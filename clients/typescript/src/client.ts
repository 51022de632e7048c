import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { credentials, type Refresh } from "./credentials.js";
import { abortableFetch } from "./fetch.js";
import { AccessService } from "./gen/berth/v1/access_service_pb.js";
import { AnalyticsService } from "./gen/berth/v1/analytics_service_pb.js";
import { AuditService } from "./gen/berth/v1/audit_service_pb.js";
import { BookingService } from "./gen/berth/v1/booking_service_pb.js";
import { CheckInService } from "./gen/berth/v1/check_in_service_pb.js";
import { CreditService } from "./gen/berth/v1/credit_service_pb.js";
import type { Event } from "./gen/berth/v1/event_pb.js";
import { EventService, type WatchEventsRequestSchema } from "./gen/berth/v1/event_service_pb.js";
import { MemberService } from "./gen/berth/v1/member_service_pb.js";
import { NotificationService } from "./gen/berth/v1/notification_service_pb.js";
import { SessionService } from "./gen/berth/v1/session_service_pb.js";
import { TenantService } from "./gen/berth/v1/tenant_service_pb.js";
import { WaitlistService } from "./gen/berth/v1/waitlist_service_pb.js";
import { withRetries } from "./transport.js";
import { type WatchOptions, watch } from "./watch.js";

/** Options of {@link createBerthClient}. */
export interface BerthClientOptions {
  /** The server's URL, such as `https://api.berth.example`. */
  readonly baseUrl: string;
  /** The first access token. Without `refresh` it is used until it expires. */
  readonly token?: string | undefined;
  /**
   * Fetches a token: before the first call if `token` is not given, one minute before a token expires,
   * and once when the server rejects a token. Concurrent calls share one fetch.
   */
  readonly refresh?: Refresh | undefined;
  /**
   * A service account's key, instead of `token` and `refresh`. It is exchanged for access tokens that
   * are valid for minutes. For backends only: never send a key to a browser.
   */
  readonly key?: string | undefined;
  /** The tenant of requests without one. Required if the token is valid for several tenants. */
  readonly tenantId?: string | undefined;
  /**
   * Creates the transport. The default is Connect over `fetch`, in browsers and Node.js.
   * `createCachingTransport` adds the browser's cache. For gRPC-Web use `createGrpcWebTransport` of
   * `@connectrpc/connect-web`, for gRPC use `createGrpcTransport` of `@connectrpc/connect-node`.
   */
  readonly transport?: ((to: { baseUrl: string; fetch: typeof fetch }) => Transport) | undefined;
  /** Timeout of a unary call including retries, in ms. Default: 30,000. 0 means no timeout. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is retried if that is safe. Default: 4. */
  readonly retries?: number | undefined;
}

const services = {
  access: AccessService,
  analytics: AnalyticsService,
  audit: AuditService,
  bookings: BookingService,
  checkIn: CheckInService,
  credits: CreditService,
  events: EventService,
  members: MemberService,
  notifications: NotificationService,
  sessions: SessionService,
  tenants: TenantService,
  waitlist: WaitlistService,
} as const;

type Services = { readonly [Name in keyof typeof services]: Client<(typeof services)[Name]> };

/** A client of all services, with one caller's credentials. */
export interface BerthClient extends Services {
  /** The transport of all services, for libraries that need one, such as connect-query. */
  readonly transport: Transport;
  /**
   * Streams the tenant's events in commit order. It reconnects after interruptions and continues
   * where it stopped, so that no event is missed or repeated. Without a cursor it starts now. It ends
   * when the loop is left or `signal` is aborted, and throws a `ConnectError` that retrying cannot
   * fix, such as PERMISSION_DENIED.
   *
   * ```ts
   * for await (const event of berth.watch({ cursor })) await handle(event);
   * ```
   */
  watch(
    request?: MessageInitShape<typeof WatchEventsRequestSchema>,
    options?: WatchOptions,
  ): AsyncGenerator<Event, void, undefined>;
}

/** Creates a client. It connects with the first call and need not be closed. */
export function createBerthClient(options: BerthClientOptions): BerthClient {
  const { token, key, tenantId, timeoutMs = 30_000, retries = 4 } = options;
  const { transport: connect = createConnectTransport } = options;
  const inner = connect({ baseUrl: options.baseUrl, fetch: abortableFetch });
  const policy = { tenantId, timeoutMs, retries };
  const refresh = key === undefined ? options.refresh : exchange(key);
  const tokens = credentials(token, refresh);
  const transport = withRetries(inner, { ...policy, credentials: tokens });

  function exchange(key: string): Refresh {
    const anonymous = credentials(undefined, undefined);
    const access = createClient(
      AccessService,
      withRetries(inner, { ...policy, credentials: anonymous }),
    );
    return async () => {
      const { accessToken, expiresIn } = await access.exchangeKey({ key });
      // By the local clock, because the server's may differ.
      const expiresAt = new Date(Date.now() + Number(expiresIn?.seconds ?? 0) * 1000);
      return { token: accessToken, expiresAt };
    };
  }

  const entries = Object.entries(services).map(([name, service]) => [
    name,
    createClient(service, transport),
  ]);
  const clients = Object.fromEntries(entries) as Services;
  return {
    ...clients,
    transport,
    watch: (request = {}, options) => watch(clients.events, tokens, request, options),
  };
}
