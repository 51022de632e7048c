import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { type Credentials, credentials, type Refresh, type Token } from "./credentials.js";
import { abortableFetch } from "./fetch.js";
import { AccessService } from "./gen/berth/v1/access_service_pb.js";
import { AnalyticsService } from "./gen/berth/v1/analytics_service_pb.js";
import { AuditService } from "./gen/berth/v1/audit_service_pb.js";
import { BookingService } from "./gen/berth/v1/booking_service_pb.js";
import { CatalogService } from "./gen/berth/v1/catalog_service_pb.js";
import { CheckInService } from "./gen/berth/v1/check_in_service_pb.js";
import { CreditService } from "./gen/berth/v1/credit_service_pb.js";
import type { Event } from "./gen/berth/v1/event_pb.js";
import { EventService, type WatchEventsRequestSchema } from "./gen/berth/v1/event_service_pb.js";
import { ImportService } from "./gen/berth/v1/import_service_pb.js";
import { InvitationService } from "./gen/berth/v1/invitation_service_pb.js";
import { MemberService } from "./gen/berth/v1/member_service_pb.js";
import { NotificationService } from "./gen/berth/v1/notification_service_pb.js";
import { SessionService } from "./gen/berth/v1/session_service_pb.js";
import { SignInService } from "./gen/berth/v1/sign_in_service_pb.js";
import { TenantService } from "./gen/berth/v1/tenant_service_pb.js";
import { WaitlistService } from "./gen/berth/v1/waitlist_service_pb.js";
import { WorkoutService } from "./gen/berth/v1/workout_service_pb.js";
import { withRetries } from "./transport.js";
import type { WatchOptions } from "./watch.js";

/** Options of {@link createBerthConnection}. */
export interface BerthConnectionOptions {
  /** The server's URL, such as `https://api.berth.example`. */
  readonly baseUrl: string;
  /** The first access token. Without `refresh` it is used until it expires. */
  readonly token?: string | undefined;
  /**
   * Fetches a token: before the first call if `token` is not given, one minute before a token expires,
   * and once when the server rejects a token. Concurrent calls share one fetch.
   */
  readonly refresh?: Refresh | undefined;
  /** Your own source of tokens, instead of `token` and `refresh`. */
  readonly credentials?: Credentials | undefined;
  /**
   * The tenant of requests without one, or a function that returns it for each call. Required if the
   * token is valid for several tenants.
   */
  readonly tenantId?: string | (() => string | undefined) | undefined;
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
  /** Called whenever the server answers, even with an error. */
  readonly onReachable?: (() => void) | undefined;
  /** Called when a call fails, after its retries, because nothing or a proxy answered. */
  readonly onUnreachable?: (() => void) | undefined;
}

/** Options of {@link createBerthClient}. */
export interface BerthClientOptions extends BerthConnectionOptions {
  /**
   * A service account's key, instead of `token` and `refresh`. It is exchanged for access tokens that
   * are valid for minutes. For backends only: never send a key to a browser.
   */
  readonly key?: string | undefined;
}

const services = {
  access: AccessService,
  analytics: AnalyticsService,
  audit: AuditService,
  bookings: BookingService,
  catalog: CatalogService,
  checkIn: CheckInService,
  credits: CreditService,
  events: EventService,
  imports: ImportService,
  signIns: SignInService,
  invitations: InvitationService,
  members: MemberService,
  notifications: NotificationService,
  sessions: SessionService,
  tenants: TenantService,
  waitlist: WaitlistService,
  workouts: WorkoutService,
} as const;

type Services = { readonly [Name in keyof typeof services]: Client<(typeof services)[Name]> };

/** A client of all services, with one caller's credentials. */
export interface BerthClient extends Services, BerthConnection {}

/** A client without services, with one caller's credentials. */
export interface BerthConnection {
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

/**
 * Creates a client without services. A web app that creates the clients of the services it uses, or
 * gives the transport to a library, loads less script than with {@link createBerthClient}.
 */
export function createBerthConnection(options: BerthConnectionOptions): BerthConnection {
  const { baseUrl, timeoutMs = 30_000, retries = 4 } = options;
  const { transport: connect = createConnectTransport } = options;
  const tokens = options.credentials ?? credentials(options.token, options.refresh);
  const inner = connect({ baseUrl, fetch: abortableFetch });
  const transport = withRetries(inner, { ...options, timeoutMs, retries, credentials: tokens });
  return {
    transport,
    async *watch(request = {}, options) {
      // A web app loads this after its first page.
      const { watchOver } = await import("./watch.js");
      yield* watchOver(transport, tokens, request, options);
    },
  };
}

/** Creates a client. It connects with the first call and need not be closed. */
export function createBerthClient({ key, ...options }: BerthClientOptions): BerthClient {
  const refresh = key === undefined ? options.refresh : () => exchange(key);
  const connection = createBerthConnection({ ...options, refresh });
  const entries = Object.entries(services).map(([name, service]) => [
    name,
    createClient(service, connection.transport),
  ]);
  const clients = Object.fromEntries(entries) as Services;

  async function exchange(key: string): Promise<Token> {
    const { accessToken, expiresIn } = await clients.access.exchangeKey({ key });
    // By the local clock, because the server's may differ.
    const expiresAt = new Date(Date.now() + Number(expiresIn?.seconds ?? 0) * 1000);
    return { token: accessToken, expiresAt };
  }

  return { ...clients, ...connection };
}
