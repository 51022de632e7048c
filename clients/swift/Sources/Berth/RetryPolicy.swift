import Connect
import Foundation

/// Whether and when a call is retried.
struct RetryPolicy: Sendable {
    let retries: Int
    /// From 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var sleep: @Sendable (TimeInterval) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
    }

    /// The limits of the backoff, in seconds. It doubles with each attempt.
    private static let minBackoff: TimeInterval = 0.1
    private static let maxBackoff: TimeInterval = 10

    /// The backoff with full jitter, in seconds: clients that failed together do not retry together.
    func backoff(_ attempt: Int) -> TimeInterval {
        return self.random() * min(Self.maxBackoff, Self.minBackoff * pow(2, Double(attempt)))
    }

    /// The delay before a retry, in seconds; nil if the call must not be retried. safe says whether a call
    /// that may have been executed can be repeated.
    func retryDelay(_ error: BerthError, safe: Bool, attempt: Int) -> TimeInterval? {
        switch error.reason {
        case .contention: // nothing was executed
            return self.backoff(attempt)
        case .rateLimited:
            let delay = error.retryAfter
            // A long delay is the caller's decision.
            return delay > Self.maxBackoff ? nil : delay + self.backoff(attempt)
        case .deadlineExceeded, .shuttingDown:
            return safe ? self.backoff(attempt) : nil
        case .unspecified: // from the network or a proxy, not from Berth
            return safe && error.code.isTransient ? self.backoff(attempt) : nil
        default:
            return nil
        }
    }

    /// The delay before a watch reconnects, in seconds; nil if that cannot fix the error.
    func reconnectDelay(_ error: BerthError, attempt: Int) -> TimeInterval? {
        switch error.reason {
        case .watcherTooSlow, .shuttingDown, .contention, .deadlineExceeded, .internal:
            return self.backoff(attempt)
        case .rateLimited:
            return error.retryAfter + self.backoff(attempt)
        case .unspecified, .canceled:
            // Cancelled by a proxy or after missed heartbeats, not by the caller.
            let retryable = error.code.isTransient || error.code == .canceled
                || error.code == .resourceExhausted
            return retryable ? self.backoff(attempt) : nil
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
    /// Whether a code means that the connection was refused or lost.
    var isTransient: Bool {
        switch self {
        case .unavailable, .unknown, .internalError, .aborted, .deadlineExceeded:
            return true
        default:
            return false
        }
    }
}
