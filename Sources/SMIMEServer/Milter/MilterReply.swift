package import NIOCore

/// A reply of a milter (`SMFIR_…` of Sendmail's mfdef.h). Changes are possible only at the end of a message.
package enum MilterReply: Hashable, Sendable {
    /// The accepted options: `O`.
    case negotiated(MilterOptions)
    /// Continue: `c`.
    case `continue`
    /// Accept the message; the mail server sends no further part of it: `a`.
    case accept
    /// Drop the message as if it were delivered: `d`.
    case discard
    /// Refuse the command or message permanently, with the mail server's own text: `r`.
    case reject
    /// Refuse the command or message temporarily: `t`.
    case temporaryFailure
    /// Refuse the command or message with these lines, an SMTP reply without its last line end. Each `%` is doubled in the
    /// packet: `y`.
    case replyCode(String)
    /// End the SMTP client's connection: `4`.
    case shutdown
    /// Close the SMTP client's connection without a reply: `f`.
    case connectionFailure
    /// Send no more commands of this kind: `s`.
    case skip
    /// Report progress: `p`.
    case progress
    /// Put the message on hold: `q`.
    case quarantine(reason: String)
    /// Add a field at the end of the header: `h`.
    case addHeader(MilterField)
    /// Insert a field after the first `position` fields, which include the server's own Received field: `i`.
    case insertHeader(position: UInt32, MilterField)
    /// Change the value of the `index`-th received field of this name, counted from 1. An empty value removes the field: `m`.
    case changeHeader(index: UInt32, MilterField)
    /// The next piece of a new body: `b`.
    case replaceBody(ByteBuffer)
    /// Replace the sender: `e`.
    case changeSender(MilterAddress)
    /// Add a recipient: `+`.
    case addRecipient(String)
    /// Add a recipient with parameters: `2`.
    case addRecipientWithParameters(MilterAddress)
    /// Remove a recipient: `-`.
    case deleteRecipient(String)
}

extension MilterReply {
    /// Reads a reply, as a mail server does.
    ///
    /// - Throws: `.unknownCommand`, `.malformed`
    package init(_ packet: MilterPacket) throws(MilterViolation) {
        var data = MilterPacketReader(packet)
        switch packet.code {
        case UInt8(ascii: "O"): self = .negotiated(try data.options())
        case UInt8(ascii: "c"): self = .continue
        case UInt8(ascii: "a"): self = .accept
        case UInt8(ascii: "d"): self = .discard
        case UInt8(ascii: "r"): self = .reject
        case UInt8(ascii: "t"): self = .temporaryFailure
        case UInt8(ascii: "y"): self = .replyCode(try data.looseString().undoublingPercentSigns)
        case UInt8(ascii: "4"): self = .shutdown
        case UInt8(ascii: "f"): self = .connectionFailure
        case UInt8(ascii: "s"): self = .skip
        case UInt8(ascii: "p"): self = .progress
        case UInt8(ascii: "q"): self = .quarantine(reason: try data.looseString())
        case UInt8(ascii: "h"): self = .addHeader(try data.field())
        case UInt8(ascii: "i"): self = .insertHeader(position: try data.number(), try data.field())
        case UInt8(ascii: "m"): self = .changeHeader(index: try data.number(), try data.field())
        case UInt8(ascii: "b"): self = .replaceBody(data.rest())
        case UInt8(ascii: "e"): self = .changeSender(try data.joinedAddress())
        case UInt8(ascii: "+"): self = .addRecipient(try data.string())
        case UInt8(ascii: "2"): self = .addRecipientWithParameters(try data.joinedAddress())
        case UInt8(ascii: "-"): self = .deleteRecipient(try data.string())
        default: throw .unknownCommand(packet.code)
        }
        try data.end()
    }

    /// The packet that a milter sends.
    package var packet: MilterPacket {
        var data = ByteBuffer()
        switch self {
        case .negotiated(let options): data.writeMilterOptions(options)
        case .replyCode(let lines): data.writeMilterString(lines.doublingPercentSigns)
        case .quarantine(let text), .addRecipient(let text), .deleteRecipient(let text): data.writeMilterString(text)
        case .addHeader(let field): data.writeMilterField(field)
        case .insertHeader(let number, let field), .changeHeader(let number, let field):
            data.writeInteger(number)
            data.writeMilterField(field)
        case .replaceBody(let piece): data.writeImmutableBuffer(piece)
        case .changeSender(let address), .addRecipientWithParameters(let address):
            data.writeMilterString(address.argument)
            if !address.parameters.isEmpty { data.writeMilterString(address.parameters.joined(separator: " ")) }
        case .continue, .accept, .discard, .reject, .temporaryFailure, .shutdown, .connectionFailure, .skip, .progress:
            break
        }
        return MilterPacket(code, data)
    }

    private var code: UInt8 {
        switch self {
        case .negotiated: UInt8(ascii: "O")
        case .continue: UInt8(ascii: "c")
        case .accept: UInt8(ascii: "a")
        case .discard: UInt8(ascii: "d")
        case .reject: UInt8(ascii: "r")
        case .temporaryFailure: UInt8(ascii: "t")
        case .replyCode: UInt8(ascii: "y")
        case .shutdown: UInt8(ascii: "4")
        case .connectionFailure: UInt8(ascii: "f")
        case .skip: UInt8(ascii: "s")
        case .progress: UInt8(ascii: "p")
        case .quarantine: UInt8(ascii: "q")
        case .addHeader: UInt8(ascii: "h")
        case .insertHeader: UInt8(ascii: "i")
        case .changeHeader: UInt8(ascii: "m")
        case .replaceBody: UInt8(ascii: "b")
        case .changeSender: UInt8(ascii: "e")
        case .addRecipient: UInt8(ascii: "+")
        case .addRecipientWithParameters: UInt8(ascii: "2")
        case .deleteRecipient: UInt8(ascii: "-")
        }
    }
}

extension String {
    /// Doubles percent signs, because Sendmail uses the reply as a format string. Postfix reverses the doubling.
    fileprivate var doublingPercentSigns: String {
        String(decoding: utf8.flatMap { $0 == UInt8(ascii: "%") ? [$0, $0] : [$0] }, as: UTF8.self)
    }

    /// Reverses the doubling. A single percent sign is removed, as in Postfix.
    fileprivate var undoublingPercentSigns: String {
        var text = ""
        var isEscaped = false
        for character in unicodeScalars {
            isEscaped = character == "%" && !isEscaped
            if !isEscaped { text.unicodeScalars.append(character) }
        }
        return text
    }
}

/// The decision on a complete message.
package enum MilterVerdict: Hashable, Sendable {
    /// The message is accepted unchanged.
    case accept
    /// The mail server accepts the message and drops it, because every recipient gets a copy in another way.
    case discard
    /// The mail server refuses the message.
    case refuse(MilterRefusal)
    /// The message is accepted and replaced.
    case replace(MilterReplacement)
}

/// The reply with which a mail server refuses a message.
package struct MilterRefusal: Hashable, Sendable {
    /// The reply code, 400 to 599.
    package let code: Int
    /// The enhanced status code, such as `5.7.1`.
    ///
    /// RFC 3463
    package let status: String
    /// The text for the sender. A line feed begins a new line of the reply.
    package let text: String

    /// The refusal of a message whose outcome is unknown.
    static let undetermined = MilterRefusal(temporary: "4.3.0", "the message could not be handled now; try again later")

    private init(temporary status: String, _ text: String) { (code, self.status, self.text) = (451, status, text) }

    /// - Returns: nil if a code is malformed or the two codes differ in their class. Mail servers would treat such a reply as
    ///   an error of the milter.
    package init?(code: Int, status: String, text: String) {
        let numbers = status.split(separator: ".", omittingEmptySubsequences: false)
        guard (400...599).contains(code), numbers.count == 3, numbers[0] == "\(code / 100)",
            numbers.allSatisfy({ (1...3).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        self.code = code
        self.status = status
        self.text = text
    }
}

/// The message that replaces the received one.
package struct MilterReplacement: Hashable, Sendable {
    /// The source of the body.
    package enum Body: Hashable, Sendable {
        /// The received body is kept.
        case unchanged
        /// A new body follows: the caller passes it to `MilterSession.replaceBody` and `finishBody`.
        case follows
    }

    /// The new header. Every field has its line end; the empty line at the end is optional.
    package var header: [UInt8]
    package var body: Body
    /// The indices in `MilterEnvelope.recipients` of the recipients who get no copy of this message. A mail server removes
    /// all duplicates of an address together.
    package var removedRecipients: [Int]
    /// The new sender with its ESMTP parameters; nil keeps the old one. Postfix ignores the parameters.
    package var sender: MilterAddress?

    package init(header: [UInt8], body: Body, removing removed: [Int] = [], sender: MilterAddress? = nil) {
        self.header = header
        self.body = body
        removedRecipients = removed
        self.sender = sender
    }
}
