import Foundation

/// An access token with its expiry.
public struct Token: Sendable {
    public let value: String
    /// When it expires. Nil: it is used until the server rejects it.
    public let expiresAt: Date?

    public init(value: String, expiresAt: Date? = nil) {
        self.value = value
        self.expiresAt = expiresAt
    }
}

/// Fetches a valid access token, from your backend or an identity provider.
public typealias Refresh = @Sendable () async throws -> Token

/// Keeps the current token. Concurrent calls share one fetch.
actor TokenStore {
    /// A token is renewed this long before it expires, in seconds, so that it does not expire in transit.
    private static let renewalMargin: TimeInterval = 60

    private let refresh: Refresh
    private let now: @Sendable () -> Date
    private var held: Token?
    private var renewAt = Date.distantFuture
    private var fetching: Task<Token, any Error>?

    init(refresh: @escaping Refresh, now: @escaping @Sendable () -> Date = { Date() }) {
        self.refresh = refresh
        self.now = now
    }

    func current() async throws -> String {
        if let held = self.held, self.now() < self.renewAt {
            return held.value
        }
        do {
            return try await self.fetch()
        } catch {
            // The current token may still be valid while the issuer is unavailable.
            if let held = self.held, let end = held.expiresAt, self.now() < end {
                return held.value
            }
            throw error
        }
    }

    /// Called when the server rejects a token. Returns whether there is another one to try.
    func refused(_ token: String) async -> Bool {
        // Another call may have fetched a new one.
        if let held = self.held, held.value != token {
            return true
        }
        guard let fresh = try? await self.fetch() else {
            return false
        }
        return fresh != token
    }

    private func fetch() async throws -> String {
        if let fetching = self.fetching {
            return try await fetching.value.value
        }
        let refresh = self.refresh
        let task = Task { try await refresh() }
        self.fetching = task
        defer { self.fetching = nil }
        let fresh = try await task.value
        self.held = fresh
        self.renewAt = .distantFuture
        if let end = fresh.expiresAt {
            // Do not renew a token that is valid for a minute or two with every call.
            let life = end.timeIntervalSince(self.now())
            self.renewAt = end.addingTimeInterval(-min(Self.renewalMargin, life / 5))
        }
        return fresh.value
    }
}
