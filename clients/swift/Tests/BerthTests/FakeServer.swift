import Connect
import Foundation
import XCTest

@testable import Berth

/// A server that fails each call with the next scripted error, and then succeeds.
final class FakeServer: ProtocolClientInterface, @unchecked Sendable {
    enum Step {
        case message(BerthWatchEventsResponse)
        case end(ConnectError?)
    }

    private let lock = NSLock()
    private var script: [ConnectError?]
    private var streams: [[Step]]
    private var recorded: [Headers] = []
    private var watchRequests: [BerthWatchEventsRequest] = []
    private let onCall: @Sendable (Int) -> Void

    /// onCall gets the number of each unary call, from 1, before it is answered.
    init(
        script: [ConnectError?] = [], streams: [[Step]] = [], onCall: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.script = script
        self.streams = streams
        self.onCall = onCall
    }

    /// The headers of each call.
    var headers: [Headers] {
        return self.lock.withLock { self.recorded }
    }

    /// The request of each watch.
    var watches: [BerthWatchEventsRequest] {
        return self.lock.withLock { self.watchRequests }
    }

    func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers
    ) async -> ResponseMessage<Output> {
        self.onCall(self.headers.count + 1)
        let error: ConnectError? = self.lock.withLock {
            self.recorded.append(headers)
            return self.script.isEmpty ? nil : self.script.removeFirst()
        }
        if let error = error {
            return ResponseMessage(code: error.code, result: .failure(error))
        }
        return ResponseMessage(result: .success(Output()))
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, headers: Headers
    ) -> any ServerOnlyAsyncStreamInterface<Input, Output> {
        let steps: [Step] = self.lock.withLock {
            self.recorded.append(headers)
            return self.streams.isEmpty ? [] : self.streams.removeFirst()
        }
        return FakeStream<Input, Output>(steps: steps) { request in
            self.lock.withLock { self.watchRequests.append(request) }
        }
    }

    // MARK: - Not used by the tests

    func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers,
        completion: @escaping @Sendable (ResponseMessage<Output>) -> Void
    ) -> Cancelable {
        fatalError("only async calls are made")
    }

    func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any BidirectionalStreamInterface<Input> {
        fatalError("only async calls are made")
    }

    func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any ClientOnlyStreamInterface<Input> {
        fatalError("only async calls are made")
    }

    func serverOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, headers: Headers, onResult: @escaping @Sendable (StreamResult<Output>) -> Void
    ) -> any ServerOnlyStreamInterface<Input> {
        fatalError("only async calls are made")
    }

    func bidirectionalStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, headers: Headers
    ) -> any BidirectionalAsyncStreamInterface<Input, Output> {
        fatalError("no such RPC")
    }

    func clientOnlyStream<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, headers: Headers
    ) -> any ClientOnlyAsyncStreamInterface<Input, Output> {
        fatalError("no such RPC")
    }
}

private final class FakeStream<Input: ProtobufMessage, Output: ProtobufMessage>:
    ServerOnlyAsyncStreamInterface, @unchecked Sendable {
    private let steps: [FakeServer.Step]
    private let onRequest: @Sendable (BerthWatchEventsRequest) -> Void
    private let stream: AsyncStream<StreamResult<Output>>
    private let continuation: AsyncStream<StreamResult<Output>>.Continuation

    init(
        steps: [FakeServer.Step],
        onRequest: @escaping @Sendable (BerthWatchEventsRequest) -> Void
    ) {
        self.steps = steps
        self.onRequest = onRequest
        (self.stream, self.continuation) = AsyncStream.makeStream(of: StreamResult<Output>.self)
    }

    func send(_ input: Input) throws {
        if let request = input as? BerthWatchEventsRequest {
            self.onRequest(request)
        }
        for step in self.steps {
            switch step {
            case .message(let message):
                if let output = message as? Output {
                    self.continuation.yield(.message(output))
                }
            case .end(let error):
                let code = error?.code ?? .ok
                self.continuation.yield(.complete(code: code, error: error, trailers: nil))
                self.continuation.finish()
            }
        }
    }

    func results() -> AsyncStream<StreamResult<Output>> {
        return self.stream
    }

    func cancel() {
        self.continuation.finish()
    }
}

/// Records values from any task.
final class Recorder<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value] = []

    func add(_ value: Value) {
        self.lock.withLock { self.values.append(value) }
    }

    var all: [Value] {
        return self.lock.withLock { self.values }
    }
}

func makeError(_ code: Code, _ reason: String, _ metadata: [String: String] = [:]) -> ConnectError {
    var info = Google_Rpc_ErrorInfo()
    info.domain = "berth"
    info.reason = reason
    info.metadata = metadata
    let detail = ConnectError.Detail(
        type: Google_Rpc_ErrorInfo.protoMessageName, payload: try? info.serializedData()
    )
    return ConnectError(code: code, message: reason, details: [detail])
}

let contention = makeError(.unavailable, "CONTENTION")
let shuttingDown = makeError(.unavailable, "SHUTTING_DOWN")
let unauthenticated = makeError(.unauthenticated, "UNAUTHENTICATED")
let connectionLost = ConnectError(code: .unavailable, message: "connection reset")

/// Set by the test between calls.
final class Clock: @unchecked Sendable {
    var now = Date(timeIntervalSince1970: 0)
}

/// A client of the server that records its delays instead of waiting.
func makeClient(
    server: FakeServer,
    tokenProvider: @escaping TokenProvider = { Token(value: "token") }
) -> (BerthClient, Recorder<TimeInterval>) {
    let delays = Recorder<TimeInterval>()
    let retryPolicy = RetryPolicy(retries: 4, timeout: 30, random: { 1 }, sleep: { delays.add($0) })
    let client = BerthClient(
        transport: { _ in server }, tokens: TokenStore(provider: tokenProvider), retryPolicy: retryPolicy
    )
    return (client, delays)
}
