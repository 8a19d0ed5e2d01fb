import Foundation

/// Why a transport did not accept a message.
package struct TransportError: Error, Equatable, Sendable {
    /// The transport's message, or how its program ended.
    package let reason: String
    /// The exit status of the transport's program; nil if the program did not exit by itself, or there is none.
    package let status: Int32?
    /// The lines that the program printed. The first one is also in `reason`.
    package let output: [String]

    package init(_ reason: String, status: Int32? = nil, output: [String] = []) {
        self.reason = reason
        self.status = status
        self.output = output
    }
}

extension TransportError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}
