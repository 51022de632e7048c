import Foundation

/// An access token with its expiry.
public struct Token: Sendable {
    /// Sent as `Authorization: Bearer`.
    public let value: String
    /// When it expires. If nil, it is read from the token, if that is a JWT. Any other token is used until the
    /// server rejects it.
    public let expiresAt: Date?

    /// Creates a token.
    ///
    /// - parameter value: The token itself.
    /// - parameter expiresAt: When it expires, if that is known.
    public init(value: String, expiresAt: Date? = nil) {
        self.value = value
        self.expiresAt = expiresAt
    }
}

/// Fetches a valid access token, from your backend or an identity provider.
public typealias TokenProvider = @Sendable () async throws -> Token

/// Keeps the current token. Concurrent calls share one fetch.
actor TokenStore {
    /// A token is renewed this long before it expires, in seconds, so that it does not expire in transit.
    private static let renewalMargin: TimeInterval = 60

    private let provider: TokenProvider
    private let now: @Sendable () -> Date
    private var held: Token?
    private var renewAt = Date.distantFuture
    private var fetching: Task<Token, any Error>?

    init(provider: @escaping TokenProvider, now: @escaping @Sendable () -> Date = { Date() }) {
        self.provider = provider
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

    /// Fetches another token, because the server rejected this one. Returns whether there is another one to try.
    func renew(rejected token: String) async -> Bool {
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
        let provider = self.provider
        let task = Task { try await provider() }
        self.fetching = task
        defer { self.fetching = nil }
        let issued = try await task.value
        let fresh = Token(value: issued.value, expiresAt: issued.expiresAt ?? expiry(ofJWT: issued.value))
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

/// When a JWT expires; nil for other tokens. Only the server checks signatures.
func expiry(ofJWT token: String) -> Date? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
        return nil
    }
    // A JWT has base64 for URLs, without padding.
    var payload = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    payload += String(repeating: "=", count: (4 - payload.count % 4) % 4)
    guard let data = Data(base64Encoded: payload), let claims = try? JSONDecoder().decode(Claims.self, from: data)
    else {
        return nil
    }
    return claims.exp.map { Date(timeIntervalSince1970: $0) }
}

private struct Claims: Decodable {
    /// In seconds since 1970.
    let exp: TimeInterval?
}
