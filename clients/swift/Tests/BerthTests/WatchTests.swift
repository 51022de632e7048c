import Connect
import Foundation
import XCTest

@testable import Berth

final class WatchTests: XCTestCase {
    /// A message with these events and the cursor of the last.
    private func message(_ ids: String...) -> FakeServer.Step {
        var message = BerthWatchEventsResponse()
        for id in ids {
            var event = BerthEvent()
            event.id = id
            message.events.append(event)
            message.cursor = id
        }
        return .message(message)
    }

    private func greeting(_ cursor: String) -> FakeServer.Step {
        var message = BerthWatchEventsResponse()
        message.cursor = cursor
        return .message(message)
    }

    /// Watches until it has this many events.
    private func readEvents(_ count: Int, from berth: BerthClient) async throws -> [String] {
        var request = BerthWatchEventsRequest()
        request.cursor = "z"
        var ids: [String] = []
        for try await message in berth.watch(request) {
            ids += message.events.map(\.id)
            if ids.count >= count {
                break
            }
        }
        return ids
    }

    func testWatchResumesFromItsCursor() async throws {
        let tooSlow = makeError(.aborted, "WATCHER_TOO_SLOW")
        let limited = makeError(.resourceExhausted, "RATE_LIMITED", ["retry_after": "2"])
        let server = FakeServer(streams: [
            [.end(shuttingDown)],
            [greeting("y"), .end(shuttingDown)],
            [.end(limited)],
            [greeting("y"), message("a", "b"), .end(tooSlow)],
            [message("c"), greeting("d"), .end(nil)],
            [greeting("d"), .end(unauthenticated)],
            [message("e")],
        ])
        let issued = Recorder<Int>()
        let (berth, delays) = makeClient(server: server) {
            issued.add(1)
            return Token(value: "t\(issued.all.count)")
        }
        let ids = try await self.readEvents(4, from: berth)
        XCTAssertEqual(ids, ["a", "b", "c", "e"])
        XCTAssertEqual(server.watches.map(\.cursor), ["z", "z", "y", "y", "b", "d", "d"])
        XCTAssertEqual(delays.all, [0.1, 0.2, 2.4, 0.1, 0.1])
        let tokens = server.headers.map { $0["authorization"]?.first ?? "" }
        XCTAssertEqual(tokens[5], "Bearer t1")
        XCTAssertEqual(tokens[6], "Bearer t2")
    }

    func testWatchThrowsErrorsThatRetryingCannotFix() async throws {
        let permanent = [
            makeError(.permissionDenied, "PERMISSION_DENIED"),
            makeError(.invalidArgument, "INVALID_FIELD"),
            unauthenticated,
        ]
        for error in permanent {
            let server = FakeServer(streams: [[.end(error)], [.end(error)]])
            let (berth, _) = makeClient(server: server)
            do {
                _ = try await self.readEvents(1, from: berth)
                XCTFail("the watch did not throw")
            } catch let thrown as BerthError {
                XCTAssertEqual(thrown.code, error.code)
            }
            XCTAssertEqual(server.watches.count, 1)
        }
    }

    func testWatchEndsWithItsTask() async throws {
        let (berth, _) = makeClient(server: FakeServer(streams: [[greeting("a")]]))
        let running = XCTestExpectation(description: "the watch runs")
        let task = Task {
            for try await _ in berth.watch() {
                running.fulfill()
            }
        }
        await fulfillment(of: [running], timeout: 10)
        task.cancel()
        try await task.value
    }
}
