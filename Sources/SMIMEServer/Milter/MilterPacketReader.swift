import Foundation
import NIOCore

/// Reads the data of a packet. The caller must read all of the data and then call `end`.
struct MilterPacketReader {
    private let code: UInt8
    private var data: ByteBuffer

    init(_ packet: MilterPacket) {
        code = packet.code
        data = packet.data
    }

    private var malformed: MilterViolation { .malformed(command: code) }

    /// - Throws: `.malformed` if data remains.
    func end() throws(MilterViolation) {
        guard data.readableBytes == 0 else { throw malformed }
    }

    mutating func byte() throws(MilterViolation) -> UInt8 {
        guard let byte = data.readInteger(as: UInt8.self) else { throw malformed }
        return byte
    }

    mutating func number() throws(MilterViolation) -> UInt32 {
        guard let number = data.readInteger(as: UInt32.self) else { throw malformed }
        return number
    }

    /// All remaining bytes.
    mutating func rest() -> ByteBuffer { data.readSlice(length: data.readableBytes) ?? ByteBuffer() }

    /// The bytes before the next zero byte, which is consumed.
    mutating func terminated() throws(MilterViolation) -> ByteBufferView {
        let view = data.readableBytesView
        guard let end = view.firstIndex(of: 0) else { throw malformed }
        data.moveReaderIndex(to: end + 1)
        return view[..<end]
    }

    /// A string that will be sent back unchanged, so it must be UTF-8.
    mutating func string() throws(MilterViolation) -> String {
        guard let text = String(validating: try terminated(), as: UTF8.self) else { throw malformed }
        return text
    }

    /// A string that will not be sent back. Bytes that are not UTF-8 become replacement characters.
    mutating func looseString() throws(MilterViolation) -> String { String(decoding: try terminated(), as: UTF8.self) }

    mutating func macros() throws(MilterViolation) -> [MilterMacro] {
        var macros: [MilterMacro] = []
        while data.readableBytes > 0 {
            let name = try looseString()
            let isBraced = name.hasPrefix("{") && name.hasSuffix("}") && name.utf8.count > 2
            macros.append(
                MilterMacro(name: isBraced ? String(name.dropFirst().dropLast()) : name, value: try looseString())
            )
        }
        return macros
    }

    mutating func address() throws(MilterViolation) -> MilterAddress {
        let argument = try string()
        var parameters: [String] = []
        while data.readableBytes > 0 { parameters.append(try string()) }
        return MilterAddress(argument, parameters: parameters)
    }

    /// An address in a reply. All parameters are in one string.
    mutating func joinedAddress() throws(MilterViolation) -> MilterAddress {
        let argument = try string()
        let parameters = data.readableBytes > 0 ? try string() : ""
        return MilterAddress(argument, parameters: parameters.split(separator: " ").map(String.init))
    }

    mutating func field() throws(MilterViolation) -> MilterField {
        let name = try string()
        guard let field = MilterField(name: name, value: Array(try terminated())) else { throw malformed }
        return field
    }

    mutating func client() throws(MilterViolation) -> MilterClient {
        let name = try looseString()
        guard let family = MilterClient.Family(rawValue: try byte()) else { throw malformed }
        var client = MilterClient(name: name, family: family, port: 0, address: "")
        guard family != .unknown else { return client }
        guard let port = data.readInteger(as: UInt16.self) else { throw malformed }
        client.port = port
        client.address = try looseString()
        return client
    }

    mutating func options() throws(MilterViolation) -> MilterOptions {
        var options = MilterOptions(
            version: try number(),
            actions: MilterActions(rawValue: try number()),
            steps: MilterSteps(rawValue: try number())
        )
        while data.readableBytes > 0 {
            guard let stage = MilterMacroStage(rawValue: try number()) else { throw malformed }
            options.macros[stage] = try looseString()
        }
        return options
    }
}

extension ByteBuffer {
    /// Appends `text` up to its first zero byte, followed by a zero byte.
    mutating func writeMilterString(_ text: String) {
        writeBytes(text.utf8.prefix { $0 != 0 })
        writeInteger(UInt8(0))
    }

    mutating func writeMilterField(_ field: MilterField) {
        writeMilterString(field.name)
        writeBytes(field.value)
        writeInteger(UInt8(0))
    }

    mutating func writeMilterClient(_ client: MilterClient) {
        writeMilterString(client.name)
        writeInteger(client.family.rawValue)
        guard client.family != .unknown else { return }
        writeInteger(client.port)
        writeMilterString(client.address)
    }

    mutating func writeMilterOptions(_ options: MilterOptions) {
        writeInteger(options.version)
        writeInteger(options.actions.rawValue)
        writeInteger(options.steps.rawValue)
        for stage in MilterMacroStage.allCases {
            guard let names = options.macros[stage] else { continue }
            writeInteger(stage.rawValue)
            writeMilterString(names)
        }
    }
}

/// A violation of the milter protocol by the mail server. The first violation closes the connection.
package enum MilterViolation: Error, Hashable, Sendable {
    /// The data of a command is malformed: a terminating zero byte is missing, there are too few or too many bytes, or the
    /// name of a header field is invalid.
    case malformed(command: UInt8)
    /// A packet has no command byte.
    case emptyPacket
    /// The mail server offers this version. Versions 2 to 6 are supported; newer servers also support 6.
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
