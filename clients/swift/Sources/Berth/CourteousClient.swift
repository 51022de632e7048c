import Connect
import Foundation

/// Gives calls a token, which is renewed when it is refused; gives mutations an idempotency key; and sends again what is
/// safe to send again. It is a client around a client rather than an interceptor, because an interceptor cannot
/// send a request twice.
final class CourteousClient: ProtocolClientInterface {
    private let calls: any ProtocolClientInterface
    private let streams: any ProtocolClientInterface
    private let tokens: TokenStore
    private let pacing: Pacing

    init(
        calls: any ProtocolClientInterface,
        streams: any ProtocolClientInterface,
        tokens: TokenStore,
        pacing: Pacing
    ) {
        self.calls = calls
        self.streams = streams
        self.tokens = tokens
        self.pacing = pacing
    }

    func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        idempotencyLevel: IdempotencyLevel,
        request: Input,
        headers: Headers
    ) async -> ResponseMessage<Output> {
        var headers = headers
        let reads = idempotencyLevel == .noSideEffects
        // A key is its caller's: where there is none, the server keeps no answers.
        let takesKey = !reads && !withoutCaller.contains(path)
        let own = withoutCaller.contains(path) || headers["authorization"] != nil
        if takesKey && headers["idempotency-key"] == nil {
            headers["idempotency-key"] = [UUID().uuidString]
        }
        var renewed = false
        var attempt = 0
        while true {
            var token: String?
            let response: ResponseMessage<Output>
            do {
                if !own {
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
            if failed.code == .unauthenticated, let refused = token, !renewed {
                renewed = true
                if await self.tokens.refused(refused) {
                    continue
                }
            }
            let wait = self.pacing.patience(
                BerthError(failed), safe: reads || takesKey, attempt: attempt
            )
            guard let wait = wait, attempt < self.pacing.retries else {
                return response
            }
            attempt += 1
            do {
                try await self.pacing.sleep(wait)
            } catch {
                return response // cancelled: what went wrong says more
            }
        }
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String,
        headers: Headers
    ) -> any ServerOnlyAsyncStreamInterface<Input, Output> {
        return self.streams.serverOnlyStream(path: path, headers: headers)
    }

    // MARK: - What the contract has no use for goes through as it is.

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

/// RPCs whose request proves itself, by a signature or a key.
private let withoutCaller: Set<String> = [
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
