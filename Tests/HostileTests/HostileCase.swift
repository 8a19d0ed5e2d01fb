import Foundation
import Testing

/// The required result for a hostile message.
enum Expectation: Sendable, CustomStringConvertible {
    /// Status 0; the report must contain the codes.
    case accept([String] = [])
    /// The message is rejected, or the report contains a problem and all the codes.
    case warn([String] = [])
    /// The status is not 0, and no content is released. If they are unambiguous, the exact status and the codes are checked.
    case reject(Int32? = nil, [String] = [])

    static let accept = Self.accept()
    static let warn = Self.warn()
    static let reject = Self.reject()

    var codes: [String] {
        switch self {
        case .accept(let codes), .warn(let codes), .reject(_, let codes): codes
        }
    }

    var description: String {
        switch self {
        case .accept: "accept"
        case .warn: "warn"
        case .reject(let status, _): status.map { "reject \($0)" } ?? "reject"
        }
    }
}

/// A hostile or unusual message, with its required result.
struct HostileCase: Sendable, CustomTestStringConvertible {
    /// The family and the special property, such as `sig-content-changed`.
    let name: String
    let expected: Expectation
    /// The verb and its options.
    var verb = ["verify"]
    /// The fuzz target for which the message is a seed.
    var seed = "message"
    let message: @Sendable () throws -> [UInt8]

    init(
        _ name: String,
        _ expected: Expectation,
        verb: [String] = ["verify"],
        _ message: @escaping @Sendable () throws -> [UInt8]
    ) {
        self.name = name
        self.expected = expected
        self.verb = verb
        self.message = message
    }

    var testDescription: String { name }
}
