import Connect
import Foundation
import XCTest

@testable import Berth

final class CallTests: XCTestCase {
    func testMutationsAreRetriedWithTheSameKey() async throws {
        for error in [contention, connectionLost, makeError(.deadlineExceeded, "DEADLINE_EXCEEDED")] {
            let server = FakeServer(script: [error, error])
            let (berth, delays) = makeClient(server: server)
            _ = try await berth.bookings.book(request: BerthBookRequest()).value
            _ = try await berth.bookings.book(request: BerthBookRequest()).value
            let keys = server.headers.map { $0["idempotency-key"] ?? [] }
            XCTAssertEqual(keys.count, 4)
            XCTAssertEqual(keys[0].count, 1)
            XCTAssertEqual(keys[0], keys[1])
            XCTAssertEqual(keys[0], keys[2])
            XCTAssertNotEqual(keys[0], keys[3])
            XCTAssertEqual(delays.all, [0.1, 0.2])
        }
    }

    func testReadsHaveNoKeyAndStopAfterMaxRetries() async {
        let server = FakeServer(script: Array(repeating: contention, count: 9))
        let (berth, delays) = makeClient(server: server)
        let response = await berth.bookings.getBooking(request: BerthGetBookingRequest())
        XCTAssertThrowsError(try response.value) { error in
            XCTAssertEqual((error as? BerthError)?.reason, .contention)
        }
        XCTAssertEqual(server.headers.count, 5)
        XCTAssertNil(server.headers[0]["idempotency-key"])
        XCTAssertEqual(delays.all, [0.1, 0.2, 0.4, 0.8])
    }

    func testRefusalsAreNotRetried() async {
        let refusals = [
            makeError(.resourceExhausted, "SESSION_FULL"),
            makeError(.internalError, "INTERNAL"),
            makeError(.aborted, "ETAG_MISMATCH"),
            makeError(.resourceExhausted, "RATE_LIMITED", ["retry_after": "60"]),
            ConnectError(code: .permissionDenied, message: "a proxy's"),
        ]
        for error in refusals {
            let server = FakeServer(script: [error])
            let (berth, _) = makeClient(server: server)
            let response = await berth.bookings.book(request: BerthBookRequest())
            XCTAssertEqual(response.error?.code, error.code)
            XCTAssertEqual(server.headers.count, 1)
        }
    }

    func testRateLimitedCallsWaitForRetryAfter() async throws {
        let limited = makeError(.resourceExhausted, "RATE_LIMITED", ["retry_after": "3"])
        let (berth, delays) = makeClient(server: FakeServer(script: [limited]))
        _ = try await berth.bookings.book(request: BerthBookRequest()).value
        XCTAssertEqual(delays.all, [3.1])
    }

    func testRejectedTokenIsRenewedOnce() async {
        let issued = Recorder<Int>()
        let server = FakeServer(script: [unauthenticated, nil, unauthenticated, unauthenticated])
        let (berth, delays) = makeClient(server: server) {
            issued.add(1)
            return Token(value: "t\(issued.all.count)")
        }
        let first = await berth.bookings.book(request: BerthBookRequest())
        let second = await berth.bookings.book(request: BerthBookRequest())
        XCTAssertNil(first.error)
        XCTAssertEqual(second.error?.code, .unauthenticated)
        let tokens = server.headers.map { $0["authorization"]?.first ?? "" }
        XCTAssertEqual(tokens, ["Bearer t1", "Bearer t2", "Bearer t2", "Bearer t3"])
        XCTAssertEqual(delays.all, [])
    }

    func testErrorsHaveReasonAndMetadata() {
        let error = BerthError(makeError(.resourceExhausted, "DAILY_LIMIT", ["limit": "2"]))
        XCTAssertEqual(error.reason, .dailyLimit)
        XCTAssertEqual(error.code, .resourceExhausted)
        XCTAssertEqual(error.metadata, ["limit": "2"])
        XCTAssertEqual(BerthError(makeError(.internalError, "INTERNAL")).reason, .internal)
        XCTAssertEqual(BerthError(makeError(.notFound, "FROM_THE_FUTURE")).reason, .unspecified)
        XCTAssertEqual(BerthError(CancellationError()).code, .canceled)
    }

    func testPagesReadAllItems() async throws {
        let requests = Recorder<String>()
        var request = BerthListItemsRequest()
        request.locationID = "l"
        let pages = Pages(of: request, token: \.pageToken, next: \.nextPageToken) {
            (request) -> ResponseMessage<BerthListItemsResponse> in
            requests.add(request.locationID + request.pageToken)
            let page = requests.all.count
            var answer = BerthListItemsResponse()
            for name in ["a", "b"] where page != 2 { // a page may be empty
                var item = BerthItem()
                item.id = "\(page)\(name)"
                answer.items.append(item)
            }
            answer.nextPageToken = page < 3 ? "\(page)" : ""
            return ResponseMessage(result: .success(answer))
        }
        var ids: [String] = []
        for try await item in pages.items(\.items) {
            ids.append(item.id)
        }
        XCTAssertEqual(ids, ["1a", "1b", "3a", "3b"])
        XCTAssertEqual(requests.all, ["l", "l1", "l2"])
    }
}

final class TokenTests: XCTestCase {
    func testTokensAreRenewedBeforeTheyExpire() async throws {
        let clock = Clock()
        let issuer = Issuer()
        let issued = Recorder<Int>()
        let tokens = TokenStore(
            provider: {
                issued.add(1)
                if issuer.isDown { throw CancellationError() }
                return Token(value: "t\(issued.all.count)", expiresAt: clock.now + issuer.lifetime)
            },
            now: { clock.now }
        )
        var value = try await tokens.current()
        XCTAssertEqual(value, "t1")
        clock.now += 539
        value = try await tokens.current()
        XCTAssertEqual(value, "t1")
        clock.now += 1
        issuer.isDown = true
        value = try await tokens.current() // still valid for one minute
        XCTAssertEqual(value, "t1")
        issuer.isDown = false
        issuer.lifetime = 60
        value = try await tokens.current()
        XCTAssertEqual(value, "t3")
        clock.now += 47
        value = try await tokens.current() // not renewed with every call
        XCTAssertEqual(value, "t3")
        clock.now += 1
        value = try await tokens.current()
        XCTAssertEqual(value, "t4")
    }

    func testConcurrentCallsShareOneFetch() async throws {
        let issued = Recorder<Int>()
        let tokens = TokenStore(provider: {
            issued.add(1)
            await Task.yield()
            return Token(value: "t\(issued.all.count)")
        })
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask { try await tokens.current() }
            }
            for try await value in group {
                XCTAssertEqual(value, "t1")
            }
        }
        XCTAssertEqual(issued.all.count, 1)
    }
}

/// Set by the test between calls.
private final class Issuer: @unchecked Sendable {
    var lifetime: TimeInterval = 600
    var isDown = false
}
