import Connect
import Foundation

/// All of Berth's services, for one caller. Make one for the app, and keep it.
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
    let pacing: Pacing

    /// Makes a client. It opens no connection before the first call.
    ///
    /// - parameter baseURL: Where Berth is, such as `https://api.berth.example`.
    /// - parameter timeout: How long one attempt at a unary call may take, in seconds.
    /// - parameter retries: How many times a call is sent again where that is safe.
    /// - parameter refresh: Fetches a token: before the first call, a minute before one ends, and once where the server
    ///   refuses one. However many calls need it, it runs once at a time.
    public convenience init(
        baseURL: String,
        timeout: TimeInterval = 15,
        retries: Int = 4,
        refresh: @escaping Refresh
    ) {
        let configuration = URLSessionConfiguration.default
        // A stream that misses two heartbeats is dead. It is the time between two packets, not that of a call.
        configuration.timeoutIntervalForRequest = 35
        let http = URLSessionHTTPClient(configuration: configuration)
        self.init(
            calls: ProtocolClient(
                httpClient: http,
                config: ProtocolClientConfig(host: baseURL, codec: ProtoCodec(), timeout: timeout)
            ),
            // The timeout of a configuration would end streams too.
            streams: ProtocolClient(
                httpClient: http,
                config: ProtocolClientConfig(host: baseURL, codec: ProtoCodec())
            ),
            tokens: TokenStore(refresh: refresh),
            pacing: Pacing(retries: retries)
        )
    }

    init(
        calls: any ProtocolClientInterface,
        streams: any ProtocolClientInterface,
        tokens: TokenStore,
        pacing: Pacing
    ) {
        let client = CourteousClient(calls: calls, streams: streams, tokens: tokens, pacing: pacing)
        self.tokens = tokens
        self.pacing = pacing
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

    /// The headers that a stream needs: unlike other calls it does not get its token by itself.
    public func authorization() async throws -> Headers {
        return bearer(try await self.tokens.current())
    }
}

func bearer(_ token: String) -> Headers {
    return ["authorization": ["Bearer \(token)"]]
}
