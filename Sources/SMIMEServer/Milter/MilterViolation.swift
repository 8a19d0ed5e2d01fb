import Foundation

/// A violation of the milter protocol by the mail server; the first one closes the connection.
package enum MilterViolation: Error, Hashable, Sendable {
    /// The data of a command is malformed: no terminating zero byte, missing or surplus bytes, an invalid header field name.
    case malformed(command: UInt8)
    /// A packet without a command.
    case emptyPacket
    /// The mail server offers version `version`; 2 to 6 are supported, and newer servers fall back to 6.
    case unsupportedVersion(UInt32)
    /// A command that the protocol does not have.
    case unknownCommand(UInt8)
    /// A command out of order.
    case unexpectedCommand(UInt8)
    /// A packet of `length` bytes, which is too long.
    case packetTooLarge(length: Int)
    /// Too many recipients, or too long arguments, for one message.
    case envelopeTooLarge
    /// Too many commands without a message.
    case tooManyCommands
}

extension MilterViolation: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence for a log, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .malformed(let command): "milter: the data of command \(Self.name(command)) is malformed"
        case .emptyPacket: "milter: an empty packet"
        case .unsupportedVersion(let version): "milter: protocol version \(version) is not supported"
        case .unknownCommand(let command): "milter: unknown command \(Self.name(command))"
        case .unexpectedCommand(let command): "milter: command \(Self.name(command)) out of order"
        case .packetTooLarge(let length): "milter: a packet of \(length) bytes"
        case .envelopeTooLarge: "milter: too many recipients or arguments"
        case .tooManyCommands: "milter: too many commands without a message"
        }
    }

    private static func name(_ command: UInt8) -> String {
        (0x21...0x7E).contains(command) ? "'\(Character(Unicode.Scalar(command)))'" : "\(command)"
    }
}
