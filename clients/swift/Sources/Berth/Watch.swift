import Connect
import Foundation

extension BerthClient {
    /// Streams the tenant's events in commit order, until the loop is left or its task is cancelled. After a
    /// lost connection it continues from the last cursor. Throws a `BerthError` that retrying cannot fix.
    ///
    /// The first message arrives when the watch starts. It has no events, and neither have heartbeats. Save a
    /// message's cursor after handling its events: a later watch from this cursor misses no event and repeats
    /// none. Without a cursor the watch starts now.
    ///
    /// - parameter request: The filter and the cursor to start from.
    /// - parameter onDisconnect: Called when the connection is lost. The next message means that it is back.
    public func watch(
        _ request: BerthWatchEventsRequest = BerthWatchEventsRequest(),
        onDisconnect: (@Sendable (BerthError) -> Void)? = nil
    ) -> AsyncThrowingStream<BerthWatchEventsResponse, any Error> {
        return AsyncThrowingStream { continuation in
            let task = Task {
                await self.follow(request, into: continuation, onDisconnect: onDisconnect)
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func follow(
        _ first: BerthWatchEventsRequest,
        into continuation: AsyncThrowingStream<BerthWatchEventsResponse, any Error>.Continuation,
        onDisconnect: (@Sendable (BerthError) -> Void)?
    ) async {
        var request = first
        var failures = 0
        var hasRenewed = false
        while !Task.isCancelled {
            var token: String?
            let lost: BerthError
            do {
                let current = try await self.tokens.current()
                token = current
                let stream = self.events.watchEvents(headers: bearer(current))
                lost = try await withTaskCancellationHandler {
                    try stream.send(request)
                    var hasStarted = false
                    for await result in stream.results() {
                        switch result {
                        case .headers:
                            continue
                        case .message(let message):
                            request.cursor = message.cursor
                            hasRenewed = false
                            if hasStarted {
                                // A server may greet and then hang up each time: only a second
                                // message resets the backoff.
                                failures = 0
                            }
                            hasStarted = true
                            continuation.yield(message)
                        case .complete(let code, let error, _):
                            return disconnectError(code, error)
                        }
                    }
                    return disconnectError(.unavailable, nil)
                } onCancel: {
                    stream.cancel()
                }
            } catch {
                lost = BerthError(error)
            }
            if Task.isCancelled {
                break
            }
            if lost.code == .unauthenticated {
                // Once: if the new token is rejected too, give up.
                if let rejected = token, !hasRenewed, await self.tokens.renew(rejected: rejected) {
                    hasRenewed = true
                    continue
                }
                continuation.finish(throwing: lost)
                return
            }
            guard let delay = self.retryPolicy.reconnectDelay(after: lost, attempt: failures) else {
                continuation.finish(throwing: lost)
                return
            }
            failures += 1
            onDisconnect?(lost)
            try? await self.retryPolicy.sleep(delay) // cancellation ends the loop above
        }
        continuation.finish()
    }
}

/// The error that a stream ended with. One that ends without an error counts as lost.
private func disconnectError(_ code: Code, _ error: (any Error)?) -> BerthError {
    if let error = error {
        return BerthError(error)
    }
    return BerthError(
        reason: .unspecified,
        code: code == .ok ? .unavailable : code,
        message: "the stream ended",
        metadata: [:]
    )
}
