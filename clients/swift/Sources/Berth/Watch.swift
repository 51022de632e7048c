import Connect
import Foundation

extension BerthClient {
    /// Gives what happens in the tenant, in commit order, until its loop is left or its task is cancelled. Where the connection
    /// ends, for whatever reason, it goes on from the last cursor. It throws what another attempt would not mend.
    ///
    /// The first message comes as soon as the watch runs; it and those that only show that the connection lives have no
    /// events. Whoever keeps the cursor of a message once its events are dealt with, and begins there the
    /// next time, misses nothing and sees nothing twice. Without a cursor it begins now.
    ///
    /// - parameter request: Which events, and from where.
    /// - parameter onDisconnect: Called when the connection is lost; the next message says that it is back.
    public func watch(
        _ request: Berth_V1_WatchEventsRequest = Berth_V1_WatchEventsRequest(),
        onDisconnect: (@Sendable (BerthError) -> Void)? = nil
    ) -> AsyncThrowingStream<Berth_V1_WatchEventsResponse, any Error> {
        return AsyncThrowingStream { continuation in
            let task = Task {
                await self.follow(request, into: continuation, onDisconnect: onDisconnect)
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func follow(
        _ first: Berth_V1_WatchEventsRequest,
        into continuation: AsyncThrowingStream<Berth_V1_WatchEventsResponse, any Error>.Continuation,
        onDisconnect: (@Sendable (BerthError) -> Void)?
    ) async {
        var request = first
        var failures = 0
        var renewed = false
        while !Task.isCancelled {
            var token: String?
            let lost: BerthError
            do {
                let current = try await self.tokens.current()
                token = current
                let stream = self.events.watchEvents(headers: bearer(current))
                lost = try await withTaskCancellationHandler {
                    try stream.send(request)
                    var greeted = false
                    for await result in stream.results() {
                        switch result {
                        case .headers:
                            continue
                        case .message(let message):
                            request.cursor = message.cursor
                            renewed = false
                            if greeted {
                                // Whoever greets and then hangs up each time is not to be called ever faster.
                                failures = 0
                            }
                            greeted = true
                            continuation.yield(message)
                        case .complete(let code, let error, _):
                            return ended(code, error)
                        }
                    }
                    return ended(.unavailable, nil)
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
                // Once: what is new and refused again will not be good.
                if let refused = token, !renewed, await self.tokens.refused(refused) {
                    renewed = true
                    continue
                }
                continuation.finish(throwing: lost)
                return
            }
            guard let wait = self.pacing.resumption(lost, attempt: failures) else {
                continuation.finish(throwing: lost)
                return
            }
            failures += 1
            onDisconnect?(lost)
            try? await self.pacing.sleep(wait) // a cancellation ends the loop above
        }
        continuation.finish()
    }
}

/// How a stream ended; one that just ends is as good as lost.
private func ended(_ code: Code, _ error: (any Error)?) -> BerthError {
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
