import Foundation
import Testing

/// What must become of a hostile message.
enum Expectation: Sendable, CustomStringConvertible {
    /// Status 0; the codes must stand in the report.
    case accept([String] = [])
    /// Never plainly good: refused, or a problem in the report; the codes must stand there.
    case warn([String] = [])
    /// Not status 0, and nothing released; a status of its own, and codes, where they are clear.
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

/// One hostile (or merely odd) message with the verdict it must get.
struct HostileCase: Sendable, CustomTestStringConvertible {
    /// The family and what is special, as `sig-content-changed`.
    let name: String
    let expected: Expectation
    /// The verb that is asked, and its options.
    var verb = ["verify"]
    /// The fuzz target that the message is a seed for.
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
