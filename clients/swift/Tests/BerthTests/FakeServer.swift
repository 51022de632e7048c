import Connect
import Foundation
import XCTest

@testable import Berth

/// A server that meets each call with the next of what is scripted, and then answers.
final class FakeServer: ProtocolClientInterface, @unchecked Sendable {
    enum Step {
        case message(Berth_V1_WatchEventsResponse)
        case end(ConnectError?)
    }

    private let lock = NSLock()
    private var script: [ConnectError?]
    private var streams: [[Step]]
    private var recorded: [Headers] = []
    private var asked: [Berth_V1_WatchEventsRequest] = []

    init(script: [ConnectError?] = [], streams: [[Step]] = []) {
        self.script = script
        self.streams = streams
    }

    /// The headers of each call.
    var headers: [Headers] {
        return self.lock.withLock { self.recorded }
    }

    /// What each watch asked for.
    var watches: [Berth_V1_WatchEventsRequest] {
        return self.lock.withLock { self.asked }
    }

    func unary<Input: ProtobufMessage, Output: ProtobufMessage>(
        path: String, idempotencyLevel: IdempotencyLevel, request: Input, headers: Headers
    ) async -> ResponseMessage<Output> {
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
            self.lock.withLock { self.asked.append(request) }
        }
    }

    // MARK: - Not called here

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
    private let heard: @Sendable (Berth_V1_WatchEventsRequest) -> Void
    private let stream: AsyncStream<StreamResult<Output>>
    private let continuation: AsyncStream<StreamResult<Output>>.Continuation

    init(
        steps: [FakeServer.Step],
        heard: @escaping @Sendable (Berth_V1_WatchEventsRequest) -> Void
    ) {
        self.steps = steps
        self.heard = heard
        (self.stream, self.continuation) = AsyncStream.makeStream(of: StreamResult<Output>.self)
    }

    func send(_ input: Input) throws {
        if let request = input as? Berth_V1_WatchEventsRequest {
            self.heard(request)
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

/// Notes what happens, from any task.
final class Notes<Note: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var notes: [Note] = []

    func add(_ note: Note) {
        self.lock.withLock { self.notes.append(note) }
    }

    var all: [Note] {
        return self.lock.withLock { self.notes }
    }
}

func refusal(_ code: Code, _ reason: String, _ facts: [String: String] = [:]) -> ConnectError {
    var info = Google_Rpc_ErrorInfo()
    info.domain = "berth"
    info.reason = reason
    info.metadata = facts
    let detail = ConnectError.Detail(
        type: Google_Rpc_ErrorInfo.protoMessageName, payload: try? info.serializedData()
    )
    return ConnectError(code: code, message: reason, details: [detail])
}

let contention = refusal(.unavailable, "CONTENTION")
let shuttingDown = refusal(.unavailable, "SHUTTING_DOWN")
let unauthenticated = refusal(.unauthenticated, "UNAUTHENTICATED")
let lost = ConnectError(code: .unavailable, message: "connection reset")

/// A client of the server that does not wait, and the waits that it would have made.
func client(
    of server: FakeServer,
    refresh: @escaping Refresh = { Token(value: "token") }
) -> (BerthClient, Notes<TimeInterval>) {
    let waits = Notes<TimeInterval>()
    let pacing = Pacing(retries: 4, random: { 1 }, sleep: { waits.add($0) })
    let client = BerthClient(
        calls: server, streams: server, tokens: TokenStore(refresh: refresh), pacing: pacing
    )
    return (client, waits)
}
