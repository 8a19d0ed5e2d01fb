package import NIOCore

/// The client's side of a connection to the next hop in SMTP, without its socket, for one message after the other.
///
/// The caller feeds what it reads into ``receive(_:)`` and takes events from ``next()`` until that is nil. After `.ready` it may
/// ``begin(_:)`` a transaction. After `.sendContent` it writes what ``send(_:)`` makes of each piece of the content, and at the end
/// what ``endOfContent()`` gives. Then comes `.accepted` or `.refused`, and `.ready` when the connection can take the next message.
/// Nothing traps and nothing throws: a call that does not fit the state has no effect.
///
/// MAIL and RCPT go out together where the hop announces PIPELINING, and all replies are read. The content is sent only if the hop
/// takes all recipients; else the transaction is reset.
///
/// RFC 5321, RFC 2920, RFC 3030
package struct SMTPClientSession: Sendable {
    /// What the caller has to do next.
    package enum Event: Sendable, Equatable {
        /// Write these bytes.
        case write(ByteBuffer)
        /// The connection can take a transaction.
        case ready
        /// All recipients are accepted: send the content now.
        case sendContent
        /// The hop accepted the message with this reply.
        case accepted(SMTPReply)
        /// The hop would take the message for all recipients (a probe).
        case probed
        /// The hop refused the message: between one and ``SMTPClientSession/maximumRefusals`` refusals, those
        /// with 5xx before those with 4xx.
        case refused([SMTPRefusal])
        /// Close the connection. No event follows.
        case unusable(SMTPConnectionFailure)
    }

    /// The most refusals reported for one message.
    package static let maximumRefusals = 100

    let hostName: String
    var state = State.greeting
    var parser = SMTPReplyParser()
    /// Events that are not yet handed out: at most one to write, and what follows it.
    var events: [Event] = []
    /// The extensions that the hop announced.
    package internal(set) var announced: Set<SMTPExtension> = []
    /// The largest message in bytes; nil if the hop does not announce it.
    package internal(set) var maximumSize: Int?
    /// The attributes of XFORWARD that the hop accepts.
    var xforwardAttributes: Set<XFORWARDAttribute> = []
    var delivery: Delivery?

    /// - Parameter hostName: the name of this host for EHLO.
    package init(hostName: String) {
        self.hostName = hostName
    }

    /// Whether ``begin(_:)`` has an effect.
    package var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    /// How long the hop may take for its next bytes; nil while none are expected.
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

    /// Reads all of `bytes`. Too much of them makes the connection unusable, so that little is kept in memory.
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

    /// Notes that the hop has closed the connection.
    package mutating func endOfInput() { fail("the next hop closed the connection") }

    /// Notes that the connection cannot be used any more (a timeout, an error in writing).
    package mutating func fail(_ reason: String) {
        let outcome: SMTPConnectionFailure.Outcome
        switch state {
        case .closed: return
        case .envelope, .data, .content: outcome = .notTaken
        case .outcome: outcome = .unknown
        case .greeting, .hello, .ready, .reset, .quit: outcome = .noMessage
        }
        state = .closed
        delivery = nil
        events.append(.unusable(SMTPConnectionFailure(outcome, reason)))
    }

    /// The next event; nil if there is none until more is received or a method is called.
    package mutating func next() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Begins a transaction, if ``isReady``. A message that exceeds what the hop announced is refused without asking the hop.
    package mutating func begin(_ transaction: SMTPTransaction) {
        guard isReady else { return }
        // The caller knows that the connection is ready.
        events.removeAll { $0 == .ready }
        beginTransaction(transaction)
    }

    /// The encoded next piece of the content, after `.sendContent`. Empty if the hop has refused or left meanwhile,
    /// which the next event says, or if the content is invalid in SMTP or not of the announced size.
    package mutating func send(_ content: ByteBuffer) -> ByteBuffer {
        guard case .content = state, content.readableBytes > 0, let framing = delivery?.framing else {
            return ByteBuffer()
        }
        delivery?.contentSize += content.readableBytes
        switch framing {
        case .stuffed(var stuffing):
            let encoded = stuffing.encode(content)
            delivery?.framing = .stuffed(stuffing)
            if let encoded { return encoded }
        case .counted(var decoder):
            var bytes = content
            let piece = decoder.next(from: &bytes)
            delivery?.framing = .counted(decoder)
            if case .content = piece { return chunk(content, mayEnd: decoder.mayEnd) }
        }
        refuseContent()
        return ByteBuffer()
    }

    /// The bytes to send after the last piece of the content.
    package mutating func endOfContent() -> ByteBuffer {
        guard case .content = state, case .stuffed(var stuffing) = delivery?.framing else {
            if case .content = state { fail("the content is shorter than was told") }
            return ByteBuffer()
        }
        guard let end = stuffing.end() else {
            refuseContent()
            return ByteBuffer()
        }
        state = .outcome
        return end
    }

    /// Ends a connection that is ready: QUIT, and then `.unusable` when the hop has answered.
    package mutating func quit() {
        guard isReady else { return }
        state = .quit
        write("QUIT\r\n")
    }

    private var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// A piece of a chunk as it is, if it fits. With the last byte of the chunk the hop has the message.
    private mutating func chunk(_ content: ByteBuffer, mayEnd: Bool) -> ByteBuffer {
        guard let delivery, delivery.contentSize <= delivery.transaction.content.size else {
            fail("the content is longer than was told")
            return ByteBuffer()
        }
        if delivery.contentSize == delivery.transaction.content.size {
            guard mayEnd else {
                refuseContent()
                return ByteBuffer()
            }
            state = .outcome
        }
        return content
    }

    /// Gives up within the content; the hop drops the message when the connection ends.
    private mutating func refuseContent() {
        refuse(.content, SMTPReply(554, "5.6.0", text: "a line end that is not CRLF in the message"), then: .closed)
    }
}
