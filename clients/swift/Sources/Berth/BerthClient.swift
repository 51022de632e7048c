import Connect
import Foundation

/// A client of all services. Create one for the app and keep it.
///
/// ```swift
/// let berth = BerthClient(baseURL: "https://api.berth.example") {
///     let session = try await Account.current.session() // your sign-in
///     return Token(value: session.accessToken, expiresAt: session.expiresAt)
/// }
/// let response = await berth.bookings.book(request: request)
/// let message = try response.value
/// ```
///
/// Each service is a property with a method for each RPC. The client adds the token, an idempotency key and safe
/// retries to each call.
public final class BerthClient: Sendable {
    /// Roles, permissions, service accounts and their keys.
    public let access: BerthAccessServiceClient
    /// Numbers for reports.
    public let analytics: BerthAnalyticsServiceClient
    /// The log of who did what.
    public let audit: BerthAuditServiceClient
    /// Books, holds, moves and cancels places.
    public let bookings: BerthBookingServiceClient
    /// Records who attended.
    public let checkIn: BerthCheckInServiceClient
    /// Plans, subscriptions and the credit ledger.
    public let credits: BerthCreditServiceClient
    /// The events of a tenant. To follow them use ``watch(_:onDisconnect:)``, which reconnects.
    public let events: BerthEventServiceClient
    /// The members of a tenant, and their devices.
    public let members: BerthMemberServiceClient
    /// Messages to members: preferences, templates, senders and the log.
    public let notifications: BerthNotificationServiceClient
    /// The schedule.
    public let sessions: BerthSessionServiceClient
    /// Settings, locations, resources and services of a tenant.
    public let tenants: BerthTenantServiceClient
    /// Waitlist entries and offers.
    public let waitlist: BerthWaitlistServiceClient

    let tokens: TokenStore
    let retryPolicy: RetryPolicy

    /// Creates a client. It connects with the first call.
    ///
    /// - parameter baseURL: The server's URL, such as `https://api.berth.example`.
    /// - parameter timeout: Timeout of a unary call with its retries, in seconds. 0 means no timeout. An attempt that
    ///   gets no answer ends after 35 seconds in any case.
    /// - parameter retries: How often a call is retried if that is safe.
    /// - parameter tokenProvider: Fetches a token: before the first call, one minute before a token expires, and once
    ///   when the server rejects a token. Concurrent calls share one fetch.
    public convenience init(
        baseURL: String,
        timeout: TimeInterval = 30,
        retries: Int = 4,
        tokenProvider: @escaping TokenProvider
    ) {
        let configuration = URLSessionConfiguration.default
        // A stream that misses two heartbeats is dead. This limits the time between packets, not of a call.
        configuration.timeoutIntervalForRequest = 35
        let http = URLSessionHTTPClient(configuration: configuration)
        self.init(
            transport: { timeout in
                ProtocolClient(
                    httpClient: http,
                    config: ProtocolClientConfig(host: baseURL, codec: ProtoCodec(), timeout: timeout)
                )
            },
            tokens: TokenStore(provider: tokenProvider),
            retryPolicy: RetryPolicy(retries: retries, timeout: timeout)
        )
    }

    init(transport: @escaping Transport, tokens: TokenStore, retryPolicy: RetryPolicy) {
        let client = RetryingClient(transport: transport, tokens: tokens, retryPolicy: retryPolicy)
        self.tokens = tokens
        self.retryPolicy = retryPolicy
        self.access = BerthAccessServiceClient(client: client)
        self.analytics = BerthAnalyticsServiceClient(client: client)
        self.audit = BerthAuditServiceClient(client: client)
        self.bookings = BerthBookingServiceClient(client: client)
        self.checkIn = BerthCheckInServiceClient(client: client)
        self.credits = BerthCreditServiceClient(client: client)
        self.events = BerthEventServiceClient(client: client)
        self.members = BerthMemberServiceClient(client: client)
        self.notifications = BerthNotificationServiceClient(client: client)
        self.sessions = BerthSessionServiceClient(client: client)
        self.tenants = BerthTenantServiceClient(client: client)
        self.waitlist = BerthWaitlistServiceClient(client: client)
    }

    /// Headers with the current token. Streams need them; unary calls get them automatically.
    ///
    /// - throws: The error of the token provider.
    public func authorization() async throws -> Headers {
        return bearer(try await self.tokens.current())
    }
}

func bearer(_ token: String) -> Headers {
    return ["authorization": ["Bearer \(token)"]]
}
