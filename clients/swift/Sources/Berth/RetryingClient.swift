import Connect
import Foundation

/// Adds tokens, idempotency keys and retries to a client. A rejected token is renewed once. It wraps the
/// client because an interceptor cannot send a request twice.
final class RetryingClient: ProtocolClientInterface {
    private let calls: any ProtocolClientInterface
    private let streams: any ProtocolClientInterface
    private let tokens: TokenStore
    private let retryPolicy: RetryPolicy

    init(
        calls: any ProtocolClientInterface,
        streams: any ProtocolClientInterface,
        tokens: TokenStore,
        retryPolicy: RetryPolicy
    ) {
        self.calls = calls
        self.streams = streams
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
        var renewed = false
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
                response = await self.calls.unary(
                    path: path, idempotencyLevel: idempotencyLevel, request: request, headers: headers
                )
            } catch {
                return failure(error)
            }
            guard let failed = response.error, !Task.isCancelled else {
                return response
            }
            if failed.code == .unauthenticated, let rejected = token, !renewed {
                renewed = true
                if await self.tokens.refused(rejected) {
                    continue
                }
            }
            let wait = self.retryPolicy.retryDelay(
                BerthError(failed), safe: isRead || usesIdempotencyKey, attempt: attempt
            )
            guard let wait = wait, attempt < self.retryPolicy.retries else {
                return response
            }
            attempt += 1
            do {
                try await self.retryPolicy.sleep(wait)
            } catch {
                return response // cancelled: the original error is more useful
            }
        }
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any ServerOnlyAsyncStreamInterface<Input, Output> {
        return self.streams.serverOnlyStream(path: path, headers: headers)
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
        return self.calls.unary(
            path: path, idempotencyLevel: idempotencyLevel, request: request, headers: headers,
            completion: completion
        )
    }

    func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers,
        onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any BidirectionalStreamInterface<Input> {
        return self.streams.bidirectionalStream(path: path, headers: headers, onResult: onResult)
    }

    func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers,
        onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any ClientOnlyStreamInterface<Input> {
        return self.streams.clientOnlyStream(path: path, headers: headers, onResult: onResult)
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers,
        onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any ServerOnlyStreamInterface<Input> {
        return self.streams.serverOnlyStream(path: path, headers: headers, onResult: onResult)
    }

    func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any BidirectionalAsyncStreamInterface<Input, Output> {
        return self.streams.bidirectionalStream(path: path, headers: headers)
    }

    func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any ClientOnlyAsyncStreamInterface<Input, Output> {
        return self.streams.clientOnlyStream(path: path, headers: headers)
    }
}

/// RPCs without a caller: their request has a signature or a key.
private let publicPaths: Set<String> = [
    "/berth.v1.AccessService/ExchangeKey",
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
