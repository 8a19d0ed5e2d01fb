public import Foundation
public import Streams

/// Takes finished messages off our hands.
public protocol MailTransport: Sendable {
    /// Sends the message in `file`; it is the transport's when this returns, and not at all when this throws.
    func send(_ file: SpooledFile, from sender: String, to recipients: [String]) throws(TransportError)
}

/// Why a transport did not take a message.
public struct TransportError: Error, Equatable, Sendable {
    /// What it said, or how it ended.
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

extension TransportError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }
    public var description: String { reason }
}
