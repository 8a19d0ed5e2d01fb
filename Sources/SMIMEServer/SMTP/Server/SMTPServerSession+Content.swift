import NIOCore

extension SMTPServerSession {
    /// Handles DATA (RFC 5321 §4.1.1.4).
    mutating func data(_ argument: Substring) {
        guard argument.isEmpty else { return reject(501, "5.5.4", text: "DATA has no argument") }
        guard hasRecipients() else { return }
        guard transaction?.isBegun == false else { return reject(503, "5.5.1", text: "BDAT has begun this message") }
        // RFC 2920 §3.1: a client must wait for the reply to DATA. Content sent before the reply could be used to smuggle
        // messages.
        guard input.readableBytes == 0 else { return violate("5.5.1", "data before the reply to DATA") }
        announceMessage(.data)
    }

    /// Handles BDAT (RFC 3030 §2).
    mutating func chunk(_ argument: Substring) {
        let words = argument.split(separator: " ")
        let isLast = words.count == 2 && words[1].uppercased() == "LAST"
        // Without a length the end of the chunk is unknown.
        guard let digits = words.first, 1...19 ~= digits.utf8.count, digits.utf8.allSatisfy(\.isDigit),
            let length = Int(digits), words.count == 1 || isLast
        else { return violate("5.5.4", "bad size of a chunk") }
        guard length > 0 || isLast || countWithoutContent() else { return }
        guard let transaction, !transaction.envelope.recipients.isEmpty else {
            guard countError() else { return }
            state = .discardingChunk(remaining: length, SMTPReply(503, "5.5.1", text: "no valid recipients"), count: 1)
            return
        }
        guard length <= settings.maximumSize - transaction.contentSize else {
            noteRefusal(.size)
            refuseChunk(length: length, isLast: isLast, tooLarge)
            return endTransaction()
        }
        if transaction.isBegun {
            state = .chunk(remaining: length, isLast: isLast)
        } else {
            announceMessage(.chunk(length: length, isLast: isLast))
        }
    }

    /// Whether there is a sender and a recipient. If not, this sends a reply.
    ///
    /// RFC 5321 §3.3, RFC 2033 §4.2
    private mutating func hasRecipients() -> Bool {
        if transaction?.envelope.recipients.isEmpty == false { return true }
        reject(
            transaction == nil || settings.dialect == .lmtp ? 503 : 554,
            "5.5.1",
            text: transaction == nil ? "MAIL first" : "no valid recipients"
        )
        return false
    }

    private mutating func announceMessage(_ command: ContentCommand) {
        guard let envelope = transaction?.envelope else { return }
        transaction?.isBegun = true
        state = .deciding(command)
        pending = .message(envelope)
    }

    private var tooLarge: SMTPReply {
        SMTPReply(552, "5.3.4", text: "a message may have at most \(settings.maximumSize) bytes")
    }

    /// Skips a chunk and then replies to it. In LMTP there is one reply for each recipient, if the chunk is the last one.
    private mutating func refuseChunk(length: Int, isLast: Bool, _ reply: SMTPReply) {
        state = .discardingChunk(remaining: length, reply, count: isLast ? finalReplyCount : 1)
    }

    mutating func acceptMessage() {
        guard case .deciding(let command) = state, pending == nil else { return }
        switch command {
        case .data:
            guard input.readableBytes == 0 else { return violate("5.5.1", "data before the reply to DATA") }
            transaction?.decoder = SMTPContentDecoder(framing: .dotStuffed)
            state = .content
            reply(354, nil, text: "End with <CRLF>.<CRLF>")
        case .chunk(let length, let isLast):
            transaction?.decoder = SMTPContentDecoder(framing: .counted)
            state = .chunk(remaining: length, isLast: isLast)
        }
    }

    mutating func refuseMessage(_ reply: SMTPReply) {
        guard case .deciding(let command) = state, pending == nil else { return }
        let reply = reply.isTemporary || reply.isPermanent ? reply : .undetermined
        switch command {
        case .data:
            state = .command
            self.reply(reply)
        case .chunk(let length, let isLast): refuseChunk(length: length, isLast: isLast, reply)
        }
        // The caller already knows that this message has ended.
        transaction?.isBegun = false
        endTransaction()
        if let farewell, case .command = state { end(with: farewell) }
    }

    mutating func replyToMessage(_ replies: [SMTPReply]) {
        guard case .finishing = state, pending == nil else { return }
        for index in 0..<finalReplyCount {
            let reply = index < replies.count ? replies[index] : .undetermined
            self.reply(reply.code / 100 == 3 ? .undetermined : reply)
        }
        transaction?.isBegun = false
        endTransaction()
        counters = Counters()
        state = .command
        if let farewell { end(with: farewell) }
    }

    /// Reads the available content after DATA; returns false if there is none.
    mutating func readContent() -> Bool {
        guard let piece = transaction?.decoder.next(from: &input) else { return false }
        switch (piece, state) {
        case (.violation, _): violate("5.6.0", "a line end that is not CRLF in the message")
        case (.content(let bytes), .content):
            transaction?.contentSize += bytes.readableBytes
            if let size = transaction?.contentSize, size > settings.maximumSize {
                discard(.size, tooLarge)
            } else if transaction?.decoder.hasHiddenDot == true {
                discard(.hiddenDot, hiddenDot)
            } else {
                pending = .content(bytes)
            }
        case (.content, _): break
        case (.end, .discarding(let reply)):
            for _ in 0..<finalReplyCount { self.reply(reply) }
            endTransaction()
            state = .command
        case (.end, _):
            state = .finishing
            pending = .endOfMessage
        }
        return true
    }

    /// Refuses a message whose content is still being received.
    private mutating func discard(_ reason: Refusal.Reason, _ reply: SMTPReply) {
        noteRefusal(reason)
        state = .discarding(reply)
        pending = .abandoned
        transaction?.isBegun = false
    }

    private mutating func noteRefusal(_ reason: Refusal.Reason) {
        refusal = transaction.map { Refusal(reason: reason, envelope: $0.envelope) }
    }

    private var hiddenDot: SMTPReply {
        SMTPReply(554, "5.6.0", text: "a line of NUL characters and a dot, which may be read as the end of the message")
    }

    /// Reads the available bytes of a chunk; returns false if there are none.
    mutating func readChunk(remaining: Int, isLast: Bool) -> Bool {
        guard remaining > 0 else {
            endChunk(isLast: isLast)
            return true
        }
        guard var bytes = input.readSlice(length: min(remaining, input.readableBytes)), bytes.readableBytes > 0 else {
            return false
        }
        let length = bytes.readableBytes
        state = .chunk(remaining: remaining - length, isLast: isLast)
        transaction?.contentSize += length
        switch transaction?.decoder.next(from: &bytes) {
        case .content where transaction?.decoder.hasHiddenDot == true:
            noteRefusal(.hiddenDot)
            refuseChunk(length: remaining - length, isLast: isLast, hiddenDot)
            endTransaction()
        case .content(let content): pending = .content(content)
        default: violate("5.6.0", "a line end that is not CRLF in the message")
        }
        return true
    }

    private mutating func endChunk(isLast: Bool) {
        guard isLast else {
            state = .command
            return reply(250, "2.0.0", text: "\(transaction?.contentSize ?? 0) bytes received")
        }
        guard transaction?.decoder.mayEnd == true else {
            return violate("5.6.0", "a line end that is not CRLF in the message")
        }
        state = .finishing
        pending = .endOfMessage
    }

    /// Skips the available bytes of a refused chunk; returns false if there are none.
    mutating func discardChunk(remaining: Int, _ reply: SMTPReply, count: Int) -> Bool {
        guard remaining > 0 else {
            state = .command
            for _ in 0..<count { self.reply(reply) }
            if let farewell { end(with: farewell) }
            return true
        }
        let length = min(remaining, input.readableBytes)
        guard length > 0 else { return false }
        input.moveReaderIndex(forwardBy: length)
        state = .discardingChunk(remaining: remaining - length, reply, count: count)
        return true
    }
}

extension SMTPReply {
    /// The reply for a message with an unknown outcome.
    static let undetermined = SMTPReply(451, "4.3.0", text: "the message could not be handled now; try again later")
}
