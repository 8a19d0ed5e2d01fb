package import NIOCore

/// The client's side of an SMTP connection to the next hop, for one message after the other. The session does not use
/// sockets.
///
/// The caller passes received bytes to ``receive(_:)`` and then handles the events from ``next()`` until it returns nil:
/// - After `.ready` the caller may ``begin(_:)`` a transaction.
/// - After `.sendContent` the caller writes the result of ``send(_:)`` for each piece of the content, and finally the result
///   of ``endOfContent()``.
/// - Then `.accepted` or `.refused` follows, and `.ready` if the connection can be used for the next message.
///
/// No call traps or throws an error. A call that is not allowed in the current state has no effect.
///
/// If the next hop announces PIPELINING, MAIL and RCPT are sent together, and all replies are read. The content is sent only
/// if the next hop accepts all recipients; otherwise the transaction is reset.
///
/// RFC 5321, RFC 2920, RFC 3030
package struct SMTPClientSession: Sendable {
    /// What the caller has to do next.
    package enum Event: Sendable, Equatable {
        /// Write these bytes.
        case write(ByteBuffer)
        /// The connection is ready for a transaction.
        case ready
        /// All recipients are accepted: send the content now.
        case sendContent
        /// The next hop accepted the message with this reply.
        case accepted(SMTPReply)
        /// The transaction was a probe, and the next hop accepted all its recipients. No content is sent.
        case probed
        /// The next hop refused the message. There are between one and ``SMTPClientSession/maximumRefusals`` refusals; those
        /// with 5xx come before those with 4xx.
        case refused([SMTPRefusal])
        /// Close the connection. No event follows.
        case unusable(SMTPConnectionFailure)
    }

    /// The maximum number of refusals that are reported for one message.
    package static let maximumRefusals = 100

    let hostName: String
    var state = State.greeting
    var parser = SMTPReplyParser()
    /// The events that `next` has not returned yet.
    var events: [Event] = []
    /// The extensions that the next hop announced.
    package internal(set) var announced: Set<SMTPExtension> = []
    /// The maximum size of a message in bytes; nil if the next hop does not announce it.
    package internal(set) var maximumSize: Int?
    /// The attributes of XFORWARD that the next hop accepts.
    var xforwardAttributes: Set<XFORWARDAttribute> = []
    var progress: TransactionProgress?

    /// - Parameter hostName: the name of this host for EHLO.
    package init(hostName: String) {
        self.hostName = hostName
    }

    /// Whether ``begin(_:)`` has an effect.
    package var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    /// The time that the next hop may take to send its next bytes, or to accept the next bytes of the content; nil
    /// while it has to do neither.
    package var timeout: Duration? {
        switch state {
        case .ready, .closed: nil
        case .greeting: SMTPTimeouts.greeting
        case .hello, .envelope, .reset: SMTPTimeouts.reply
        case .data: SMTPTimeouts.dataInitiation
        case .content: SMTPTimeouts.contentBlock
        case .outcome: SMTPTimeouts.dataTermination
        case .quit: SMTPTimeouts.quit
        }
    }

    /// Reads all of `bytes`. Too many unexpected bytes make the connection unusable, so that little is kept in memory.
    package mutating func receive(_ bytes: inout ByteBuffer) {
        guard !isClosed else { return bytes.clear() }
        parser.receive(&bytes)
        while let item = isClosed ? nil : parser.next() {
            switch item {
            case .reply(let reply): take(reply)
            case .malformed: fail("the next hop does not speak SMTP")
            }
        }
    }

    /// Records that the next hop has closed the connection.
    package mutating func endOfInput() { fail("the next hop closed the connection") }

    /// Records that the connection cannot be used any more, for example because of a timeout or a write error.
    package mutating func fail(_ reason: String) {
        let outcome: SMTPConnectionFailure.Outcome
        switch state {
        case .closed: return
        case .envelope, .data, .content: outcome = .notTaken
        case .outcome: outcome = .unknown
        case .greeting, .hello, .ready, .reset, .quit: outcome = .noMessage
        }
        state = .closed
        progress = nil
        events.append(.unusable(SMTPConnectionFailure(outcome, reason)))
    }

    /// The next event; nil if there is none until more bytes are received or a method is called.
    package mutating func next() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Begins a transaction, if ``isReady``. A message that exceeds the announced limits is refused without asking the next
    /// hop.
    package mutating func begin(_ transaction: SMTPTransaction) {
        guard isReady else { return }
        // This transaction uses the ready connection. A `.ready` event that is left would announce the connection again.
        events.removeAll { $0 == .ready }
        beginTransaction(transaction)
    }

    /// Encodes the next piece of the content, after `.sendContent`. The result is empty in two cases:
    /// - The next hop has refused the message or closed the connection, as the next event says.
    /// - The content is invalid in SMTP, or does not have the announced size.
    package mutating func send(_ content: ByteBuffer) -> ByteBuffer {
        guard case .content = state, content.readableBytes > 0, let framing = progress?.framing else {
            return ByteBuffer()
        }
        progress?.contentSize += content.readableBytes
        switch framing {
        case .stuffed(var stuffing):
            let encoded = stuffing.encode(content)
            progress?.framing = .stuffed(stuffing)
            if let encoded { return encoded }
        case .counted(var decoder):
            var bytes = content
            let piece = decoder.next(from: &bytes)
            progress?.framing = .counted(decoder)
            if case .content = piece { return chunk(content, mayEnd: decoder.mayEnd) }
        }
        refuseContent()
        return ByteBuffer()
    }

    /// The bytes to send after the last piece of the content; empty with BDAT.
    package mutating func endOfContent() -> ByteBuffer {
        guard case .content = state, case .stuffed(var stuffing) = progress?.framing else {
            if case .content = state { fail("the content is shorter than announced") }
            return ByteBuffer()
        }
        guard let end = stuffing.end() else {
            refuseContent()
            return ByteBuffer()
        }
        state = .outcome
        return end
    }

    /// Ends a connection that is ready: sends QUIT. `.unusable` follows when the next hop has replied.
    package mutating func quit() {
        guard isReady else { return }
        state = .quit
        write("QUIT\r\n")
    }

    private var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// A piece of a chunk, unchanged, if it fits into the chunk. With the last byte of the chunk the next hop has the whole
    /// message.
    private mutating func chunk(_ content: ByteBuffer, mayEnd: Bool) -> ByteBuffer {
        guard let progress, progress.contentSize <= progress.transaction.content.size else {
            fail("the content is longer than announced")
            return ByteBuffer()
        }
        if progress.contentSize == progress.transaction.content.size {
            guard mayEnd else {
                refuseContent()
                return ByteBuffer()
            }
            state = .outcome
        }
        return content
    }

    /// Stops sending within the content. The next hop drops the message when the connection ends.
    private mutating func refuseContent() {
        refuse(.content, SMTPReply(554, "5.6.0", text: "a line end that is not CRLF in the message"), then: .closed)
    }
}
