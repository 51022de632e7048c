import Connect
import Foundation
import XCTest

@testable import Berth

/// The cases of clients/retries.json, which the clients in all languages run. Times are in seconds.
private struct RetryCases: Decodable, Sendable {
    /// A call, or a watch, that fails attempt + 1 times in the same way.
    struct Call: Decodable, Sendable {
        let when: String
        let code: String
        /// Empty if the error is not from Berth.
        let reason: String
        let metadata: [String: String]?
        let call: String?
        /// Whether the call has an idempotency key.
        let key: Bool?
        let attempt: Int
        /// The time since the call began when the last error arrives.
        let elapsed: TimeInterval?
        /// How many retries are allowed, if not the default.
        let retries: Int?
        /// The shortest and the longest wait before the call is sent again; nil if it is not sent again.
        let wait: [TimeInterval]?

        func error() throws -> ConnectError {
            let code = try XCTUnwrap(Code.fromName(self.code))
            if self.reason.isEmpty {
                return ConnectError(code: code, message: self.when)
            }
            return makeError(code, self.reason, self.metadata ?? [:])
        }
    }

    /// A token asked for twice: at the start, and at an age of the first token.
    struct Renewal: Decodable, Sendable {
        let when: String
        /// given, jwt or unknown
        let expiry: String
        let lifetime: TimeInterval
        let age: TimeInterval
        /// up, or down from the second fetch on
        let issuer: String
        /// first or second; nil for an error.
        let token: String?
    }

    /// A call while the issuer gives these tokens, one for each fetch; nil for a failure.
    struct Rejection: Decodable, Sendable {
        let when: String
        let tokens: [String?]
        /// unauthenticated or ok
        let answers: [String]
        let sent: [String]
        let succeeds: Bool
    }

    let timeout: TimeInterval
    let retries: Int
    let calls: [Call]
    let watches: [Call]
    let renewals: [Renewal]
    let rejections: [Rejection]

    static func load() throws -> RetryCases {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { // clients/swift/Tests/BerthTests
            folder.deleteLastPathComponent()
        }
        let text = try Data(contentsOf: folder.appendingPathComponent("retries.json"))
        return try JSONDecoder().decode(RetryCases.self, from: text)
    }
}

private struct IssuerDown: Error {}

final class RetryCasesTests: XCTestCase {
    func testCallsAreRetriedAsInAllClients() async throws {
        for test in try RetryCases.load().calls {
            for random in 0...1 { // the shortest and the longest wait
                let name = "\(test.when), \(test.call ?? ""), random \(random)"
                let clock = Clock()
                let begin = clock.now
                let error = try test.error()
                let server = FakeServer(script: Array(repeating: error, count: test.attempt + 1)) { number in
                    if number == test.attempt + 1 {
                        clock.now = max(clock.now, begin.addingTimeInterval(test.elapsed ?? 0))
                    }
                }
                let delays = Recorder<TimeInterval>()
                let retryPolicy = RetryPolicy(
                    retries: test.retries ?? 4,
                    timeout: 30,
                    random: { Double(random) },
                    now: { clock.now },
                    sleep: { delay in
                        delays.add(delay)
                        clock.now.addTimeInterval(delay)
                    }
                )
                let berth = BerthClient(
                    transport: { _ in server },
                    tokens: TokenStore(provider: { Token(value: "token") }),
                    retryPolicy: retryPolicy
                )
                let result = await sendCall(test.call ?? "", with: berth)
                XCTAssertEqual(server.headers[0]["idempotency-key"] != nil, test.key, name)
                guard let wait = test.wait else {
                    XCTAssertEqual(result?.code.name, test.code, name)
                    XCTAssertEqual(server.headers.count, test.attempt + 1, name)
                    continue
                }
                XCTAssertNil(result, name)
                XCTAssertEqual(server.headers.count, test.attempt + 2, name)
                XCTAssertEqual(delays.all.last ?? -1, wait[random], accuracy: 0.001, name)
            }
        }
    }

    func testDefaultsAreThoseOfAllClients() throws {
        let cases = try RetryCases.load()
        let berth = BerthClient(baseURL: "http://localhost") { Token(value: "token") }
        XCTAssertEqual(berth.retryPolicy.timeout, cases.timeout)
        XCTAssertEqual(berth.retryPolicy.retries, cases.retries)
    }

    func testEachAttemptHasTheTimeThatIsLeft() async {
        let clock = Clock()
        let server = FakeServer(script: [contention, contention])
        let timeouts = Recorder<TimeInterval>()
        let retryPolicy = RetryPolicy(
            retries: 4,
            timeout: 30,
            random: { 1 },
            now: { clock.now },
            sleep: { clock.now.addTimeInterval($0 * 10) }
        )
        let berth = BerthClient(
            transport: { timeout in
                timeouts.add(timeout ?? 0)
                return server
            },
            tokens: TokenStore(provider: { Token(value: "token") }),
            retryPolicy: retryPolicy
        )
        _ = await berth.bookings.book(request: BerthBookRequest())
        XCTAssertEqual(timeouts.all, [30, 29, 27])
    }

    func testWatchesReconnectAsInAllClients() async throws {
        for test in try RetryCases.load().watches {
            for random in 0...1 {
                let name = "\(test.when), random \(random)"
                let failure = FakeServer.Step.end(try test.error())
                let failures = Array(repeating: [failure], count: test.attempt + 1)
                let server = FakeServer(streams: failures + [[.message(BerthWatchEventsResponse())]])
                let delays = Recorder<TimeInterval>()
                let berth = BerthClient(
                    transport: { _ in server },
                    tokens: TokenStore(provider: { Token(value: "token") }),
                    retryPolicy: RetryPolicy(
                        retries: 4, timeout: 30, random: { Double(random) }, sleep: { delays.add($0) }
                    )
                )
                var thrown: BerthError?
                do {
                    for try await _ in berth.watch() {
                        break
                    }
                } catch {
                    thrown = BerthError(error)
                }
                guard let wait = test.wait else {
                    XCTAssertEqual(thrown?.code.name, test.code, name)
                    XCTAssertEqual(server.watches.count, test.attempt + 1, name)
                    continue
                }
                XCTAssertNil(thrown, name)
                XCTAssertEqual(delays.all.count, test.attempt + 1, name)
                XCTAssertEqual(delays.all.last ?? -1, wait[random], accuracy: 0.001, name)
            }
        }
    }

    func testTokensAreRenewedAsInAllClients() async throws {
        for test in try RetryCases.load().renewals {
            let clock = Clock()
            let issued = Recorder<String>()
            let tokens = TokenStore(
                provider: {
                    let name = issued.all.isEmpty ? "first" : "second"
                    if name == "second" && test.issuer == "down" {
                        throw IssuerDown()
                    }
                    let end = clock.now.addingTimeInterval(test.lifetime)
                    let value = test.expiry == "jwt" ? makeJWT(name, expiresAt: end) : name
                    issued.add(value)
                    return Token(value: value, expiresAt: test.expiry == "given" ? end : nil)
                },
                now: { clock.now }
            )
            _ = try await tokens.current()
            clock.now.addTimeInterval(test.age)
            let current = try? await tokens.current()
            switch test.token {
            case "first":
                XCTAssertEqual(issued.all.count, 1, test.when)
                XCTAssertEqual(current, issued.all.first, test.when)
            case "second":
                XCTAssertEqual(issued.all.count, 2, test.when)
                XCTAssertEqual(current, issued.all.last, test.when)
            default:
                XCTAssertNil(current, test.when)
            }
        }
    }

    func testRejectedTokensAreReplacedAsInAllClients() async throws {
        for test in try RetryCases.load().rejections {
            let server = FakeServer(script: test.answers.map { $0 == "ok" ? nil : unauthenticated })
            let fetches = Recorder<Int>()
            let (berth, _) = makeClient(server: server) {
                let fetch = fetches.all.count
                fetches.add(fetch)
                guard let value = test.tokens[fetch] else {
                    throw IssuerDown()
                }
                return Token(value: value)
            }
            let error = await sendCall("mutation", with: berth)
            XCTAssertEqual(error?.code, test.succeeds ? nil : .unauthenticated, test.when)
            let sent = server.headers.map { $0["authorization"]?.first ?? "" }
            XCTAssertEqual(sent, test.sent.map { "Bearer \($0)" }, test.when)
        }
    }
}

/// Sends the call of a case. Returns its error.
private func sendCall(_ call: String, with berth: BerthClient) async -> ConnectError? {
    switch call {
    case "read":
        return await berth.bookings.getBooking(request: BerthGetBookingRequest()).error
    case "mutation":
        return await berth.bookings.book(request: BerthBookRequest()).error
    case "public":
        return await berth.waitlist.claimOffer(request: BerthClaimOfferRequest()).error
    case "exchange":
        return await berth.access.exchangeKey(request: BerthExchangeKeyRequest()).error
    default:
        XCTFail("no such call: \(call)")
        return nil
    }
}

/// A token that says when it expires.
private func makeJWT(_ name: String, expiresAt end: Date) -> String {
    let claims = Data("{\"sub\":\"\(name)\",\"exp\":\(Int(end.timeIntervalSince1970))}".utf8)
    let payload = claims.base64EncodedString()
        .replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
    return "e30.\(payload).c2ln"
}
