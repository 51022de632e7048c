import Connect
import Foundation

/// A client whose unary calls have this timeout, in seconds. Streams must have none: it would end them, too.
typealias Transport = @Sendable (_ timeout: TimeInterval?) -> any ProtocolClientInterface

/// Adds tokens, idempotency keys and retries to a client. A rejected token is renewed once. It wraps the
/// client because an interceptor cannot send a request twice.
final class RetryingClient: ProtocolClientInterface {
    private let transport: Transport
    private let tokens: TokenStore
    private let retryPolicy: RetryPolicy

    init(transport: @escaping Transport, tokens: TokenStore, retryPolicy: RetryPolicy) {
        self.transport = transport
        self.tokens = tokens
        self.retryPolicy = retryPolicy
    }

    func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        idempotencyLevel: IdempotencyLevel,
        request: Input,
        headers: Headers
    ) async -> ResponseMessage<Output> {
        var headers = headers
        let isRead = idempotencyLevel == .noSideEffects
        // Idempotency keys belong to a caller: the server ignores them in public calls.
        let usesIdempotencyKey = !isRead && !publicPaths.contains(path)
        let hasOwnToken = publicPaths.contains(path) || headers["authorization"] != nil
        if usesIdempotencyKey && headers["idempotency-key"] == nil {
            headers["idempotency-key"] = [UUID().uuidString]
        }
        let isSafe = isRead || usesIdempotencyKey || path == exchangeKeyPath
        let deadline = self.retryPolicy.deadline()
        var hasRenewed = false
        var attempt = 0
        while true {
            var token: String?
            let response: ResponseMessage<Output>
            do {
                if !hasOwnToken {
                    let current = try await self.tokens.current()
                    headers["authorization"] = ["Bearer \(current)"]
                    token = current
                }
                // Each attempt has the time that is left. The server is told, too.
                let client = self.transport(self.retryPolicy.timeLeft(until: deadline))
                response = await client.unary(
                    path: path, idempotencyLevel: idempotencyLevel, request: request, headers: headers
                )
            } catch {
                response = failure(error)
            }
            guard let failed = response.error, !Task.isCancelled else {
                return response
            }
            if failed.code == .unauthenticated, let rejected = token, !hasRenewed {
                hasRenewed = true
                if await self.tokens.renew(rejected: rejected) {
                    continue
                }
            }
            let delay = self.retryPolicy.retryDelay(after: BerthError(failed), isSafe: isSafe, attempt: attempt)
            guard let delay = delay, attempt < self.retryPolicy.retries,
                self.retryPolicy.allows(delay, before: deadline)
            else {
                return response
            }
            attempt += 1
            do {
                try await self.retryPolicy.sleep(delay)
            } catch {
                return response // cancelled: the original error is more useful
            }
        }
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any ServerOnlyAsyncStreamInterface<Input, Output> {
        return self.transport(nil).serverOnlyStream(path: path, headers: headers)
    }

    // MARK: - Not used by the contract: passed through

    @discardableResult
    func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        idempotencyLevel: IdempotencyLevel,
        request: Input,
        headers: Headers,
        completion: @escaping @Sendable (ResponseMessage<Output>) -> Void
    ) -> Cancelable {
        return self.transport(self.retryPolicy.timeLeft(until: self.retryPolicy.deadline())).unary(
            path: path, idempotencyLevel: idempotencyLevel, request: request, headers: headers,
            completion: completion
        )
    }

    func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers,
        onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any BidirectionalStreamInterface<Input> {
        return self.transport(nil).bidirectionalStream(path: path, headers: headers, onResult: onResult)
    }

    func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers,
        onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any ClientOnlyStreamInterface<Input> {
        return self.transport(nil).clientOnlyStream(path: path, headers: headers, onResult: onResult)
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers,
        onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any ServerOnlyStreamInterface<Input> {
        return self.transport(nil).serverOnlyStream(path: path, headers: headers, onResult: onResult)
    }

    func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any BidirectionalAsyncStreamInterface<Input, Output> {
        return self.transport(nil).bidirectionalStream(path: path, headers: headers)
    }

    func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any ClientOnlyAsyncStreamInterface<Input, Output> {
        return self.transport(nil).clientOnlyStream(path: path, headers: headers)
    }
}

/// Changes nothing: it only issues another token.
private let exchangeKeyPath = "/berth.v1.AccessService/ExchangeKey"

/// RPCs without a caller: their request has a signature or a key.
private let publicPaths: Set<String> = [
    exchangeKeyPath,
    "/berth.v1.CheckInService/GetDisplay",
    "/berth.v1.WaitlistService/ClaimOffer",
    "/berth.v1.WaitlistService/GetClaim",
]

private func failure<Output: ProtobufMessage>(_ error: any Error) -> ResponseMessage<Output> {
    let known = error as? ConnectError
    let code = known?.code ?? BerthError(error).code
    let reported = known ?? ConnectError(
        code: code, message: error.localizedDescription, exception: error
    )
    return ResponseMessage(code: code, result: .failure(reported))
}
