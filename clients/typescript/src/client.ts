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
import { courteous } from "./transport.js";
import { type WatchOptions, watch } from "./watch.js";

/** How to reach Berth, and as whom. */
export interface BerthClientOptions {
  /** Where Berth is, such as `https://api.berth.example`. */
  readonly baseUrl: string;
  /** The token to begin with. Alone it is used for as long as it lasts. */
  readonly token?: string | undefined;
  /**
   * Fetches a token: before the first call where `token` is not given, a minute before one ends, and once where
   * the server refuses one. However many calls need it, it runs once at a time.
   */
  readonly refresh?: Refresh | undefined;
  /**
   * A service account's key, instead of `token` and `refresh`: it is exchanged for tokens that last minutes. For
   * backends only. A key must never come into a browser.
   */
  readonly key?: string | undefined;
  /** The tenant of all requests that name none. Needed where the token is good for several. */
  readonly tenantId?: string | undefined;
  /**
   * How to speak: by default Connect, by `fetch`, in browsers and in Node.js. `createCachingTransport` does so with the
   * browser's cache. For gRPC-Web give `createGrpcWebTransport` of
   * `@connectrpc/connect-web`, for gRPC `createGrpcTransport` of `@connectrpc/connect-node`.
   */
  readonly transport?: ((to: { baseUrl: string; fetch: typeof fetch }) => Transport) | undefined;
  /** How long a unary call may take, repetitions included, in ms. 30,000 by default; 0 sets no limit. */
  readonly timeoutMs?: number | undefined;
  /** How many times a call is sent again where that is safe. 4 by default. */
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

/** All of Berth's services, for one caller. */
export interface BerthClient extends Services {
  /** What the services are called through, for libraries that want a transport, such as connect-query. */
  readonly transport: Transport;
  /**
   * Gives what happens in the tenant, in the order in which it was committed, and goes on where it was after every
   * interruption. Without a cursor it begins now. It ends when its loop is left, or with the signal.
   *
   * ```ts
   * for await (const event of berth.watch({ cursor: kept })) await apply(event);
   * ```
   */
  watch(
    request?: MessageInitShape<typeof WatchEventsRequestSchema>,
    options?: WatchOptions,
  ): AsyncGenerator<Event, void, undefined>;
}

/** Makes a client. It opens no connection before the first call, and needs no closing. */
export function createBerthClient(options: BerthClientOptions): BerthClient {
  const { token, key, tenantId, timeoutMs = 30_000, retries = 4 } = options;
  const { transport: connect = createConnectTransport } = options;
  const inner = connect({ baseUrl: options.baseUrl, fetch: abortableFetch });
  const conduct = { tenantId, timeoutMs, retries };
  const refresh = key === undefined ? options.refresh : exchanging(key);
  const tokens = credentials(token, refresh);
  const transport = courteous(inner, { ...conduct, credentials: tokens });

  function exchanging(key: string): Refresh {
    const nobody = credentials(undefined, undefined);
    const access = createClient(
      AccessService,
      courteous(inner, { ...conduct, credentials: nobody }),
    );
    return async () => {
      const { accessToken, expiresIn } = await access.exchangeKey({ key });
      // Counted from now by our own clock, which may differ from the server's.
      const expiresAt = new Date(Date.now() + Number(expiresIn?.seconds ?? 0) * 1000);
      return { token: accessToken, expiresAt };
    };
  }

  const made = Object.entries(services).map(([name, service]) => [
    name,
    createClient(service, transport),
  ]);
  const clients = Object.fromEntries(made) as Services;
  return {
    ...clients,
    transport,
    watch: (request = {}, options) => watch(clients.events, tokens, request, options),
  };
}
