import Foundation

/// A violation of the milter protocol by the mail server. The first violation closes the connection.
package enum MilterViolation: Error, Hashable, Sendable {
    /// The data of a command is malformed: a terminating zero byte is missing, there are too few or too many bytes, or the
    /// name of a header field is invalid.
    case malformed(command: UInt8)
    /// A packet has no command byte.
    case emptyPacket
    /// The mail server offers version `version`. Versions 2 to 6 are supported; newer servers also support 6.
    case unsupportedVersion(UInt32)
    /// The command does not exist in the protocol.
    case unknownCommand(UInt8)
    /// The command is not allowed in the current state.
    case unexpectedCommand(UInt8)
    /// A packet of `length` bytes exceeds the limit.
    case packetTooLarge(length: Int)
    /// One message has too many recipients, or arguments that are too long.
    case envelopeTooLarge
    /// The mail server sent too many commands without a message.
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
        case .envelopeTooLarge: "milter: too many recipients, or too long addresses and parameters"
        case .tooManyCommands: "milter: too many commands without a message"
        }
    }

    private static func name(_ command: UInt8) -> String {
        (0x21...0x7E).contains(command) ? "'\(Character(Unicode.Scalar(command)))'" : "\(command)"
    }
}
