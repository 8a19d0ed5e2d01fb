import Foundation

/// How a mail server broke the milter protocol; the connection is closed at the first time.
package enum MilterViolation: Error, Hashable, Sendable {
    /// The data of a command is not what the command has: no terminating zero, missing or surplus bytes, a header field's name that is none.
    case malformed(command: UInt8)
    /// A packet without a command.
    case emptyPacket
    /// The mail server speaks version `version`; 2 to 6 are spoken here, and newer servers go down to 6.
    case unsupportedVersion(UInt32)
    /// A command that the protocol does not have.
    case unknownCommand(UInt8)
    /// A command that cannot stand where it stood.
    case unexpectedCommand(UInt8)
    /// A packet of `length` bytes.
    case packetTooLarge(length: Int)
    /// More recipients, or longer arguments, than a message may have.
    case envelopeTooLarge
    /// One command after the other without a message.
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
