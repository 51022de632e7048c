import Connect
import Foundation

/// Whether and when a call is sent again.
struct Pacing: Sendable {
    let retries: Int
    /// From 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var sleep: @Sendable (TimeInterval) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
    }

    /// Between first and longest, the ceiling of waits doubles; both in seconds.
    private static let first: TimeInterval = 0.1
    private static let longest: TimeInterval = 10

    /// Full jitter: whoever failed together must not come back together.
    func backoff(_ attempt: Int) -> TimeInterval {
        return self.random() * min(Self.longest, Self.first * pow(2, Double(attempt)))
    }

    /// How long to wait before a call is sent again, in seconds; nil where it must not be. Safe says whether a call
    /// that may have been done can be done again.
    func patience(_ error: BerthError, safe: Bool, attempt: Int) -> TimeInterval? {
        switch error.reason {
        case .contention: // nothing happened
            return self.backoff(attempt)
        case .rateLimited:
            let asked = error.retryAfter
            // Whoever is told to come back much later is told so.
            return asked > Self.longest ? nil : asked + self.backoff(attempt)
        case .deadlineExceeded, .shuttingDown:
            return safe ? self.backoff(attempt) : nil
        case .unspecified: // not Berth's own: the network, or what stands in between
            return safe && error.code.isTransient ? self.backoff(attempt) : nil
        default:
            return nil
        }
    }

    /// How long to wait before a watch is taken up again, in seconds; nil where that would not mend it.
    func resumption(_ error: BerthError, attempt: Int) -> TimeInterval? {
        switch error.reason {
        case .watcherTooSlow, .shuttingDown, .contention, .deadlineExceeded, .internal:
            return self.backoff(attempt)
        case .rateLimited:
            return error.retryAfter + self.backoff(attempt)
        case .unspecified, .canceled:
            // It was not the caller who cancelled: a proxy did, or the silence.
            let passing = error.code.isTransient || error.code == .canceled
                || error.code == .resourceExhausted
            return passing ? self.backoff(attempt) : nil
        default:
            return nil
        }
    }
}

extension BerthError {
    /// In seconds.
    var retryAfter: TimeInterval {
        return self.metadata["retry_after"].flatMap(TimeInterval.init) ?? 1
    }
}

extension Code {
    /// What a connection that was refused, cut or lost comes out as.
    var isTransient: Bool {
        switch self {
        case .unavailable, .unknown, .internalError, .aborted, .deadlineExceeded:
            return true
        default:
            return false
        }
    }
}
