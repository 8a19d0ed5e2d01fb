package import NIOCore

/// A command of a mail server to a milter (`SMFIC_…` of Sendmail's mfdef.h).
package enum MilterCommand: Hashable, Sendable {
    /// The offered options: `O`.
    case negotiate(MilterOptions)
    /// Macros for the command `stage`, in pairs of name and value: `D`.
    case macros(stage: UInt8, [MilterMacro])
    /// An SMTP client connected: `C`.
    case connect(MilterClient)
    /// HELO or EHLO: `H`.
    case helo(String)
    /// MAIL: `M`.
    case mail(MilterAddress)
    /// RCPT: `R`.
    case recipient(MilterAddress)
    /// DATA: `T`.
    case data
    /// A field of the header: `L`.
    case header(MilterField)
    /// The end of the header: `N`.
    case endOfHeader
    /// A piece of the body: `B`.
    case body(ByteBuffer)
    /// The end of the message, possibly with the last piece of the body: `E`.
    case endOfMessage(ByteBuffer)
    /// The message is abandoned. The connection stays open: `A`.
    case abort
    /// The end of the connection: `Q`.
    case quit
    /// The end of the SMTP client's connection; the next client uses the same milter connection: `K`.
    case quitForNext
    /// An SMTP command that is unknown to the mail server: `U`.
    case unknown(String)

    /// The bytes that name commands.
    package enum Code {
        package static let negotiate = UInt8(ascii: "O")
        package static let macros = UInt8(ascii: "D")
        package static let connect = UInt8(ascii: "C")
        package static let helo = UInt8(ascii: "H")
        package static let mail = UInt8(ascii: "M")
        package static let recipient = UInt8(ascii: "R")
        package static let data = UInt8(ascii: "T")
        package static let header = UInt8(ascii: "L")
        package static let endOfHeader = UInt8(ascii: "N")
        package static let body = UInt8(ascii: "B")
        package static let endOfMessage = UInt8(ascii: "E")
        package static let abort = UInt8(ascii: "A")
        package static let quit = UInt8(ascii: "Q")
        package static let quitForNext = UInt8(ascii: "K")
        package static let unknown = UInt8(ascii: "U")
    }
}

/// A macro of the mail server: `{client_addr}` is named `client_addr` here.
package struct MilterMacro: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension MilterCommand {
    /// Reads a command.
    ///
    /// - Throws: `.unknownCommand`, `.malformed`
    package init(_ packet: MilterPacket) throws(MilterViolation) {
        var data = MilterPacketReader(packet)
        switch packet.code {
        case Code.negotiate: self = .negotiate(try data.options())
        case Code.macros: self = .macros(stage: try data.byte(), try data.macros())
        case Code.connect: self = .connect(try data.client())
        case Code.helo: self = .helo(try data.looseString())
        case Code.mail: self = .mail(try data.address())
        case Code.recipient: self = .recipient(try data.address())
        case Code.data: self = .data
        case Code.header: self = .header(try data.field())
        case Code.endOfHeader: self = .endOfHeader
        case Code.body: self = .body(data.rest())
        case Code.endOfMessage: self = .endOfMessage(data.rest())
        case Code.abort: self = .abort
        case Code.quit: self = .quit
        case Code.quitForNext: self = .quitForNext
        case Code.unknown: self = .unknown(try data.looseString())
        default: throw .unknownCommand(packet.code)
        }
        try data.end()
    }

    /// The packet that a mail server sends.
    package var packet: MilterPacket {
        var data = ByteBuffer()
        switch self {
        case .negotiate(let options): data.writeMilterOptions(options)
        case .macros(let stage, let macros):
            data.writeInteger(stage)
            for macro in macros {
                data.writeMilterString(macro.name.utf8.count > 1 ? "{\(macro.name)}" : macro.name)
                data.writeMilterString(macro.value)
            }
        case .connect(let client): data.writeMilterClient(client)
        case .helo(let text), .unknown(let text): data.writeMilterString(text)
        case .mail(let address), .recipient(let address):
            data.writeMilterString(address.argument)
            for parameter in address.parameters { data.writeMilterString(parameter) }
        case .header(let field): data.writeMilterField(field)
        case .body(let piece), .endOfMessage(let piece): data.writeImmutableBuffer(piece)
        case .data, .endOfHeader, .abort, .quit, .quitForNext: break
        }
        return MilterPacket(code, data)
    }

    /// The byte that names the command.
    package var code: UInt8 {
        switch self {
        case .negotiate: Code.negotiate
        case .macros: Code.macros
        case .connect: Code.connect
        case .helo: Code.helo
        case .mail: Code.mail
        case .recipient: Code.recipient
        case .data: Code.data
        case .header: Code.header
        case .endOfHeader: Code.endOfHeader
        case .body: Code.body
        case .endOfMessage: Code.endOfMessage
        case .abort: Code.abort
        case .quit: Code.quit
        case .quitForNext: Code.quitForNext
        case .unknown: Code.unknown
        }
    }
}

/// A packet of the milter protocol: a command or reply byte, and data. It is sent after its length in four bytes.
package struct MilterPacket: Hashable, Sendable {
    package var code: UInt8
    package var data: ByteBuffer

    package init(_ code: UInt8, _ data: ByteBuffer = ByteBuffer()) {
        self.code = code
        self.data = data
    }

    /// Appends the encoded packet to `buffer`.
    package func write(to buffer: inout ByteBuffer) {
        // All packets written here are much shorter than 4 GiB.
        buffer.writeInteger(UInt32(clamping: data.readableBytes + 1))
        buffer.writeInteger(code)
        buffer.writeImmutableBuffer(data)
    }
}

/// Splits the bytes of a connection into packets.
package struct MilterPacketDecoder: Sendable {
    private let limits: MilterLimits
    private var bytes = ByteBuffer()

    package init(limits: MilterLimits = MilterLimits()) {
        self.limits = limits
    }

    package mutating func append(_ more: ByteBuffer) {
        if bytes.readableBytes == 0 {
            bytes = more
        } else {
            // Otherwise consumed bytes would stay in the buffer while packets span several pieces.
            bytes.discardReadBytes()
            bytes.writeImmutableBuffer(more)
        }
    }

    /// The next complete packet; nil until more bytes arrive.
    ///
    /// A packet whose length exceeds the limit is rejected as soon as its length and its command byte have arrived.
    /// After a violation nothing more can be read.
    ///
    /// - Throws: `.emptyPacket`, `.packetTooLarge`
    package mutating func next() throws(MilterViolation) -> MilterPacket? {
        let start = bytes.readerIndex
        guard let announced = bytes.getInteger(at: start, as: UInt32.self) else { return nil }
        let length = Int(announced)
        guard length > 0 else { throw .emptyPacket }
        guard let code = bytes.getInteger(at: start + 4, as: UInt8.self) else { return nil }
        guard length <= (code == MilterCommand.Code.header ? limits.headerPacket : limits.packet) else {
            throw .packetTooLarge(length: length)
        }
        guard bytes.readableBytes >= 4 + length else { return nil }
        bytes.moveReaderIndex(forwardBy: 5)
        return bytes.readSlice(length: length - 1).map { MilterPacket(code, $0) }
    }
}
