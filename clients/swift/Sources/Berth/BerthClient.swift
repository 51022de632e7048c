import Connect
import Foundation

/// A client of all services. Create one for the app and keep it.
public final class BerthClient: Sendable {
    public let access: Berth_V1_AccessServiceClient
    public let analytics: Berth_V1_AnalyticsServiceClient
    public let audit: Berth_V1_AuditServiceClient
    public let bookings: Berth_V1_BookingServiceClient
    public let checkIn: Berth_V1_CheckInServiceClient
    public let credits: Berth_V1_CreditServiceClient
    public let events: Berth_V1_EventServiceClient
    public let members: Berth_V1_MemberServiceClient
    public let notifications: Berth_V1_NotificationServiceClient
    public let sessions: Berth_V1_SessionServiceClient
    public let tenants: Berth_V1_TenantServiceClient
    public let waitlist: Berth_V1_WaitlistServiceClient

    let tokens: TokenStore
    let retryPolicy: RetryPolicy

    /// Creates a client. It connects with the first call.
    ///
    /// - parameter baseURL: The server's URL, such as `https://api.berth.example`.
    /// - parameter timeout: Timeout of one attempt of a unary call, in seconds.
    /// - parameter retries: How often a call is retried if that is safe.
    /// - parameter refresh: Fetches a token: before the first call, one minute before a token expires, and once when
    ///   the server rejects a token. Concurrent calls share one fetch.
    public convenience init(
        baseURL: String,
        timeout: TimeInterval = 15,
        retries: Int = 4,
        refresh: @escaping Refresh
    ) {
        let configuration = URLSessionConfiguration.default
        // A stream that misses two heartbeats is dead. This limits the time between packets, not of a call.
        configuration.timeoutIntervalForRequest = 35
        let http = URLSessionHTTPClient(configuration: configuration)
        self.init(
            calls: ProtocolClient(
                httpClient: http,
                config: ProtocolClientConfig(host: baseURL, codec: ProtoCodec(), timeout: timeout)
            ),
            // Without a timeout, which would end streams, too.
            streams: ProtocolClient(
                httpClient: http,
                config: ProtocolClientConfig(host: baseURL, codec: ProtoCodec())
            ),
            tokens: TokenStore(refresh: refresh),
            retryPolicy: RetryPolicy(retries: retries)
        )
    }

    init(
        calls: any ProtocolClientInterface,
        streams: any ProtocolClientInterface,
        tokens: TokenStore,
        retryPolicy: RetryPolicy
    ) {
        let client = RetryingClient(calls: calls, streams: streams, tokens: tokens, retryPolicy: retryPolicy)
        self.tokens = tokens
        self.retryPolicy = retryPolicy
        self.access = Berth_V1_AccessServiceClient(client: client)
        self.analytics = Berth_V1_AnalyticsServiceClient(client: client)
        self.audit = Berth_V1_AuditServiceClient(client: client)
        self.bookings = Berth_V1_BookingServiceClient(client: client)
        self.checkIn = Berth_V1_CheckInServiceClient(client: client)
        self.credits = Berth_V1_CreditServiceClient(client: client)
        self.events = Berth_V1_EventServiceClient(client: client)
        self.members = Berth_V1_MemberServiceClient(client: client)
        self.notifications = Berth_V1_NotificationServiceClient(client: client)
        self.sessions = Berth_V1_SessionServiceClient(client: client)
        self.tenants = Berth_V1_TenantServiceClient(client: client)
        self.waitlist = Berth_V1_WaitlistServiceClient(client: client)
    }

    /// Headers with the current token. Streams need them; unary calls get them automatically.
    public func authorization() async throws -> Headers {
        return bearer(try await self.tokens.current())
    }
}

func bearer(_ token: String) -> Headers {
    return ["authorization": ["Bearer \(token)"]]
}
