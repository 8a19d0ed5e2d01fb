import InternetMessage
package import NIOCore

extension MilterSession {
    /// The maximum length of a reply's data in bytes. Sendmail reads no more.
    private static let replyLimit = 65_535

    /// The maximum number of changed fields. Usual mail needs fewer than a hundred.
    static let maximumEdits = 2_000

    /// Bytes that report progress to the mail server, for which Postfix waits 300 seconds (`milter_content_timeout`).
    ///
    /// - Returns: nil if no message waits for a verdict. Progress cannot be reported between the pieces of a body.
    package func progress() -> ByteBuffer? { phase == .verdict ? MilterReply.progress.bytes : nil }

    /// Replies to `.endOfMessage` with a verdict.
    ///
    /// - Returns: bytes for the mail server. If the verdict has a new body, `replaceBody` and `finishBody` must follow.
    /// - Throws: `MilterEditError`. The session then still waits for a verdict, and nothing was sent.
    package mutating func finish(_ verdict: MilterVerdict) throws(MilterEditError) -> ByteBuffer {
        guard phase == .verdict, let message else { throw .notWaiting }
        var bytes = ByteBuffer()
        switch verdict {
        case .accept: MilterReply.continue.packet.write(to: &bytes)
        case .discard: MilterReply.discard.packet.write(to: &bytes)
        case .refuse(let refusal): MilterReply.replyCode(refusal.lines).packet.write(to: &bytes)
        case .replace(let replacement):
            for reply in try edits(for: replacement, of: message) { reply.packet.write(to: &bytes) }
            if replacement.body == .follows {
                phase = .newBody
                isBodyEmpty = true
                return bytes
            }
            MilterReply.continue.packet.write(to: &bytes)
        }
        endVerdict()
        return bytes
    }

    /// Encodes the next piece of a new body. Pieces may have any size; lines must end in CRLF.
    ///
    /// - Returns: bytes for the mail server; empty if the session does not expect a body.
    package mutating func replaceBody(_ piece: ByteBuffer) -> ByteBuffer {
        var piece = piece
        var bytes = ByteBuffer()
        guard phase == .newBody else { return bytes }
        while piece.readableBytes > 0, let part = piece.readSlice(length: min(piece.readableBytes, Self.replyLimit)) {
            MilterReply.replaceBody(part).packet.write(to: &bytes)
            isBodyEmpty = false
        }
        return bytes
    }

    /// Ends a replacement with a new body.
    ///
    /// - Returns: bytes for the mail server; empty if the session does not expect a body.
    package mutating func finishBody() -> ByteBuffer {
        guard phase == .newBody else { return ByteBuffer() }
        // Postfix treats an empty piece as an error of the milter. Without any piece it keeps the old body.
        var bytes = isBodyEmpty ? replaceBody(ByteBuffer(string: "\r\n")) : ByteBuffer()
        MilterReply.continue.packet.write(to: &bytes)
        endVerdict()
        return bytes
    }

    private mutating func endVerdict() {
        // The message was completed, so it is not reported as abandoned.
        _ = forgetMessage()
    }

    /// The changes that `replacement` needs, except those of the body.
    private func edits(
        for replacement: MilterReplacement,
        of message: MilterMessage
    ) throws(MilterEditError) -> [MilterReply] {
        var replies: [MilterReply] = []
        if let sender = replacement.sender, sender != message.envelope.sender { replies.append(.changeSender(sender)) }
        var removed: Set<ExactText> = []
        for place in replacement.removedRecipients {
            guard message.envelope.recipients.indices.contains(place) else { throw .noSuchRecipient }
            let recipient = message.envelope.recipients[place]
            guard recipient.isRemovable else { throw .recipientNotRemovable(recipient.address) }
            if removed.insert(ExactText(recipient.argument)).inserted {
                replies.append(.deleteRecipient(recipient.argument))
            }
        }
        guard message.isHeaderKept else { throw .headerTooLarge }
        let edits = MilterHeaderEdits(from: message.fields, to: try fields(of: replacement.header)).replies
        guard edits.count <= Self.maximumEdits else { throw .tooManyEdits }
        replies += edits
        var needed = replies.reduce(MilterActions()) { $0.union($1.neededAction) }
        if replacement.body == .follows { needed.insert(.changeBody) }
        let missing = needed.subtracting(options.actions)
        guard missing.isEmpty else { throw .actionNotOffered(missing) }
        for reply in replies where reply.packet.data.readableBytes > Self.replyLimit {
            throw .fieldTooLong(name: reply.field?.name)
        }
        return replies
    }

    private func fields(of bytes: [UInt8]) throws(MilterEditError) -> [MilterField] {
        guard let header = try? HeaderBlock(parsing: bytes), header.leadingBytes.isEmpty,
            header.bytes.count + header.separator.count == bytes.count
        else { throw .malformedHeader }
        var fields: [MilterField] = []
        for field in header.fields {
            guard let field = MilterField(field.rawBytes, leadingSpace: options.steps.contains(.leadingSpace))
            else { throw .malformedHeader }
            fields.append(field)
        }
        return fields
    }
}

extension MilterReply {
    /// The action that the mail server must allow for this reply.
    fileprivate var neededAction: MilterActions {
        switch self {
        case .addHeader, .insertHeader: .addHeaders
        case .changeHeader: .changeHeaders
        case .replaceBody: .changeBody
        case .changeSender: .changeSender
        case .deleteRecipient: .deleteRecipients
        default: []
        }
    }

    fileprivate var field: MilterField? {
        switch self {
        case .addHeader(let field), .insertHeader(_, let field), .changeHeader(_, let field): field
        default: nil
        }
    }
}

extension MilterRefusal {
    /// The lines of the reply: at most 32 lines with at most 400 bytes of text each, in printable ASCII.
    ///
    /// RFC 5321 §4.2.1, §4.5.3.1.5
    fileprivate var lines: String {
        var lines: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            var current = ""
            for word in line.split(separator: " ") {
                let word = String(
                    decoding: word.utf8.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }.prefix(400),
                    as: UTF8.self
                )
                if !current.isEmpty, current.utf8.count + word.utf8.count >= 400 {
                    lines.append(current)
                    current = ""
                }
                current += current.isEmpty ? word : " " + word
            }
            if !current.isEmpty { lines.append(current) }
        }
        if lines.isEmpty { lines = ["Message refused"] }
        lines = Array(lines.prefix(32))
        return lines.enumerated().map { index, line in
            "\(code)\(index == lines.count - 1 ? " " : "-")\(status) \(line)"
        }.joined(separator: "\r\n")
    }
}
