import Connect
import Foundation

/// Why a call failed. Branch on ``reason``; ``message`` is for people and may change.
///
/// ```swift
/// do {
///     _ = try await berth.bookings.book(request: request).value
/// } catch let error as BerthError where error.reason == .sessionFull {
///     // offer the waitlist
/// }
/// ```
public struct BerthError: Error, Sendable {
    /// `.unspecified` if this client does not know the reason, or the error is not from Berth.
    public let reason: BerthErrorReason
    /// The code of the Connect protocol.
    public let code: Code
    /// For people, in English.
    public let message: String
    /// Details, as documented with the reason. Times are RFC 3339 in UTC.
    public let metadata: [String: String]

    /// Reads any error of a call.
    ///
    /// - parameter error: What a call threw, or the error of its response.
    public init(_ error: any Error) {
        if let known = error as? BerthError {
            self = known
            return
        }
        guard let error = error as? ConnectError else {
            self.init(
                reason: .unspecified,
                code: error is CancellationError ? .canceled : .unknown,
                message: error.localizedDescription,
                metadata: [:]
            )
            return
        }
        let details: [Google_Rpc_ErrorInfo] = error.unpackedDetails()
        let info = details.first { $0.domain == "berth" }
        self.init(
            reason: info.flatMap { reasons[normalized($0.reason)] } ?? .unspecified,
            code: error.code,
            message: error.message ?? error.localizedDescription,
            metadata: info?.metadata ?? [:]
        )
    }

    init(reason: BerthErrorReason, code: Code, message: String, metadata: [String: String]) {
        self.reason = reason
        self.code = code
        self.message = message
        self.metadata = metadata
    }
}

extension BerthError: LocalizedError {
    /// The ``message``.
    public var errorDescription: String? {
        return self.message
    }
}

extension ResponseMessage {
    /// The response message. Throws a `BerthError` if the call failed.
    public var value: Output {
        get throws {
            switch self.result {
            case .success(let message):
                return message
            case .failure(let error):
                throw BerthError(error)
            }
        }
    }
}

/// Reasons by name. Generated names, such as sessionFull, and names on the wire, such as SESSION_FULL,
/// differ in case and underscores only.
private let reasons: [String: BerthErrorReason] = Dictionary(
    BerthErrorReason.allCases.map { (normalized(String(describing: $0)), $0) },
    uniquingKeysWith: { first, _ in first }
)

private func normalized(_ name: String) -> String {
    return name.replacingOccurrences(of: "_", with: "").lowercased()
}
