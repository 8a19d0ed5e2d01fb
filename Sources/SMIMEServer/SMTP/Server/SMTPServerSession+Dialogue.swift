import ByteStreams
import InternetMessage
import NIOCore

extension SMTPServerSession {
    /// The approximate number of bytes up to which replies are combined.
    private static let replyBlock = 4096

    mutating func nextEvent() -> Event? {
        while pending == nil, output.readableBytes < Self.replyBlock, advance() {}
        if output.readableBytes > 0 {
            defer { output = ByteBuffer() }
            return .reply(output)
        }
        if let event = pending {
            pending = nil
            return event
        }
        guard case .closing = state else { return nil }
        state = .closed
        return .close
    }

    /// Does one step of the dialogue; returns false if there is nothing to do now.
    private mutating func advance() -> Bool {
        switch state {
        case .greeting:
            state = .command
            reply(220, nil, text: "\(settings.hostName) \(settings.dialect == .lmtp ? "LMTP" : "ESMTP") smime")
            return true
        case .command:
            if readCommand() { return true }
        case .content, .discarding:
            if readContent() { return true }
        case .chunk(let remaining, let isLast):
            if readChunk(remaining: remaining, isLast: isLast) { return true }
        case .discardingChunk(let remaining, let reply, let count):
            if discardChunk(remaining: remaining, reply, count: count) { return true }
        case .deciding(.data): break
        case .deciding(.chunk(let length, _)):
            guard length > input.readableBytes else { return false }
        case .finishing, .closing, .closed: return false
        }
        guard inputHasEnded else { return false }
        leave()
        return true
    }

    /// Reads one line, if it is complete, and handles its command.
    private mutating func readCommand() -> Bool {
        let view = input.readableBytesView
        guard let first = view.first, !(holdsQuit && isQuitNext) else { return false }
        guard first.isLetter else {
            violate("5.5.2", "this is not \(settings.dialect == .lmtp ? "LMTP" : "SMTP")")
            return true
        }
        let limit = min(settings.maximumLineLength, settings.maximumInput)
        let searched = min(view.count, limit)
        let found = input.readableBytesSpan.octets.extracting(first: searched).firstOffset(of: .lineFeed)
        guard let found else {
            guard searched == limit else { return false }
            violate("5.5.2", "line too long", code: 500)
            return true
        }
        let line = view.prefix(found)
        input.moveReaderIndex(forwardBy: found + 1)
        guard line.last == .carriageReturn else {
            violate("5.5.2", "line feed without carriage return")
            return true
        }
        guard let command = SMTPCommand(line.dropLast()), !SMTPCommand.methodsOfHTTP.contains(command.verb) else {
            violate("5.5.2", "this is not \(settings.dialect == .lmtp ? "LMTP" : "SMTP")")
            return true
        }
        perform(command)
        return true
    }

    /// Appends a reply, with its enhanced code if ENHANCEDSTATUSCODES was announced.
    mutating func reply(_ reply: SMTPReply) {
        let isEnhanced = client.isExtended && settings.extensions.contains(.enhancedStatusCodes)
        let isHello = reply.code == 250 && reply.enhancedCode == nil
        let isShort = settings.dialect == .lmtp && !isHello
        (isShort ? reply.shortened : reply).write(to: &output, withEnhancedCode: isEnhanced)
    }

    mutating func reply(_ code: Int, _ enhancedCode: EnhancedStatusCode?, text: String) {
        reply(SMTPReply(code, enhancedCode, text: text))
    }

    /// Replies to an invalid command. After too many invalid commands the connection ends.
    mutating func reject(_ code: Int, _ enhancedCode: EnhancedStatusCode, text: String) {
        if countError() { reply(code, enhancedCode, text: text) }
    }

    /// Counts an invalid command; returns false if the connection ends because of it.
    mutating func countError() -> Bool {
        counters.errors += 1
        guard counters.errors > Counters.maximumErrors else { return true }
        endForAbuse("too many errors")
        return false
    }

    /// Ends the connection because of a violation of the protocol.
    mutating func violate(_ enhancedCode: EnhancedStatusCode, _ text: String, code: Int = 521) {
        violation = text
        end(with: SMTPReply(code, enhancedCode, text: "\(settings.hostName) protocol error: \(text)"))
    }

    /// Ends a connection with too many errors or commands.
    mutating func endForAbuse(_ text: String) {
        abuse = text
        end(with: SMTPReply(421, "4.7.0", text: "\(settings.hostName) \(text)"))
    }

    mutating func end(with reply: SMTPReply) {
        guard !state.isOver else { return }
        self.reply(reply)
        leave()
    }

    /// Ends the connection. If the caller received an envelope whose message is incomplete, the message is abandoned.
    private mutating func leave() {
        switch pending {
        case .message: pending = nil
        case .endOfMessage: pending = .abandoned
        default:
            if case .finishing = state { break }
            // If `.abandoned` already waits, it belongs to an earlier message.
            if hasMessageInFlight { pending = .abandoned }
        }
        transaction = nil
        input = ByteBuffer()
        state = .closing
    }

    /// Ends the transaction. If the caller received an envelope whose message is incomplete, the message is abandoned.
    mutating func endTransaction() {
        if hasMessageInFlight { pending = .abandoned }
        transaction = nil
        client.xforward = [:]
    }
}
