import Foundation

/// A token, as a refresh gives it.
public struct Token: Sendable {
    public let value: String
    /// When it ends. Nil: it is used until it is refused.
    public let expiresAt: Date?

    public init(value: String, expiresAt: Date? = nil) {
        self.value = value
        self.expiresAt = expiresAt
    }
}

/// Fetches a token that is good from now on: from your own backend, or from an identity provider.
public typealias Refresh = @Sendable () async throws -> Token

/// Keeps the token that is good now. Calls that need one while it is being fetched wait for that one.
actor TokenStore {
    /// A token is renewed this long before it ends, in seconds, so that it does not end under way.
    private static let margin: TimeInterval = 60

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
            // What is held may be old, and still be good for a minute of trouble at the issuer's.
            if let held = self.held, let end = held.expiresAt, self.now() < end {
                return held.value
            }
            throw error
        }
    }

    /// Tells that a token was refused. Says whether there is another to try.
    func refused(_ token: String) async -> Bool {
        // Another call may have fetched one in the meantime.
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
            // A token that lives for a minute or two is not renewed with every call.
            let life = end.timeIntervalSince(self.now())
            self.renewAt = end.addingTimeInterval(-min(Self.margin, life / 5))
        }
        return fresh.value
    }
}
