import Connect
import Foundation

/// Whether and when a call is retried. clients/retries.json has the cases, which all clients test.
struct RetryPolicy: Sendable {
    let retries: Int
    /// Of a unary call with its retries, in seconds. 0 means no timeout.
    let timeout: TimeInterval
    /// From 0 to 1.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }
    var now: @Sendable () -> Date = { Date() }
    var sleep: @Sendable (TimeInterval) async throws -> Void = { seconds in
        try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
    }

    /// The limits of the backoff, in seconds. It doubles with each attempt.
    private static let minBackoff: TimeInterval = 0.1
    private static let maxBackoff: TimeInterval = 10

    /// When a call that begins now must end; nil without a timeout.
    func deadline() -> Date? {
        return self.timeout > 0 ? self.now().addingTimeInterval(self.timeout) : nil
    }

    /// The timeout of an attempt that begins now, in seconds; nil without a deadline. It is never 0, which
    /// would mean no timeout.
    func timeLeft(until deadline: Date?) -> TimeInterval? {
        return deadline.map { max(0.001, $0.timeIntervalSince(self.now())) }
    }

    /// Whether a delay that begins now, in seconds, ends before the deadline.
    func allows(_ delay: TimeInterval, before deadline: Date?) -> Bool {
        return deadline.map { self.now().addingTimeInterval(delay) < $0 } ?? true
    }

    /// The backoff with full jitter, in seconds: clients that failed together do not retry together.
    func backoff(_ attempt: Int) -> TimeInterval {
        return self.random() * min(Self.maxBackoff, Self.minBackoff * pow(2, Double(attempt)))
    }

    /// The delay before a retry, in seconds; nil if the call must not be retried. isSafe says whether a call
    /// that may have been executed can be repeated.
    func retryDelay(after error: BerthError, isSafe: Bool, attempt: Int) -> TimeInterval? {
        switch error.reason {
        case .contention: // nothing was executed
            return self.backoff(attempt)
        case .rateLimited:
            let delay = error.retryAfter
            // A long delay is the caller's decision.
            return delay > Self.maxBackoff ? nil : delay + self.backoff(attempt)
        case .deadlineExceeded, .shuttingDown: // the server's deadline, not the call's
            return isSafe ? self.backoff(attempt) : nil
        case .unspecified: // from the network or a proxy, not from Berth
            return isSafe && error.code.isTransient ? self.backoff(attempt) : nil
        default:
            return nil
        }
    }

    /// The delay before a watch reconnects, in seconds; nil if that cannot fix the error.
    func reconnectDelay(after error: BerthError, attempt: Int) -> TimeInterval? {
        switch error.reason {
        case .watcherTooSlow, .shuttingDown, .contention, .deadlineExceeded, .internal:
            return self.backoff(attempt)
        case .rateLimited:
            return error.retryAfter + self.backoff(attempt)
        case .unspecified, .canceled:
            // Cancelled by a proxy or after missed heartbeats, not by the caller.
            let isRetryable = error.code.isTransient || error.code == .canceled
                || error.code == .resourceExhausted
            return isRetryable ? self.backoff(attempt) : nil
        default:
            return nil
        }
    }
}

extension BerthError {
    /// The delay that the server asks for, in seconds; 1 if it does not say.
    var retryAfter: TimeInterval {
        guard let text = self.metadata["retry_after"], let seconds = TimeInterval(text), seconds >= 0 else {
            return 1
        }
        return seconds
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
