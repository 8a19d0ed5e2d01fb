package import ByteStreams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An error of reading mail or of creating an address.
@nonexhaustive
package enum MIMEError: Error, Equatable, Sendable {
    /// The input exceeds a limit that protects against denial of service.
    case limitExceeded(MIMELimit)
    /// The text is not a valid address. `description` prints `reason` after a colon.
    case malformedAddress(String, reason: String)
    /// The bytes could not be read.
    case unreadable(StreamError)
}

/// A limit that protects against denial of service.
@nonexhaustive
package enum MIMELimit: Int, Equatable, Sendable {
    /// The maximum number of mailboxes in one address list.
    case addresses = 1_000
    /// The maximum size of one header in bytes.
    case headerBytes = 1_048_576
    /// The maximum size of all headers of one message in bytes.
    case totalHeaderBytes = 8_388_608
    /// The maximum number of nested multiparts; in `SevenBitEncoding`, of nested parts and embedded messages.
    case depth = 50
    /// The maximum number of entities in one message: its parts, nested parts and the message itself.
    case parts = 10_000
}

extension MIMEError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .limitExceeded(.addresses): "more than \(MIMELimit.addresses.rawValue) addresses"
        case .limitExceeded(.headerBytes): "a header of more than \(MIMELimit.headerBytes.rawValue) bytes"
        case .limitExceeded(.totalHeaderBytes): "headers of more than \(MIMELimit.totalHeaderBytes.rawValue) bytes"
        case .limitExceeded(.depth): "parts nested more than \(MIMELimit.depth.rawValue) deep"
        case .limitExceeded(.parts): "more than \(MIMELimit.parts.rawValue) parts"
        case .malformedAddress(let text, let reason): "\(text.escapedForDisplay): \(reason)"
        case .unreadable(let error): error.description
        }
    }
}

extension ByteSource {
    /// The bytes in `range`; throws `MIMEError.unreadable` if reading fails.
    func mailBytes(in range: Range<Int>) throws(MIMEError) -> [UInt8] {
        do throws(StreamError) { return try bytes(in: range) } catch { throw .unreadable(error) }
    }
}
