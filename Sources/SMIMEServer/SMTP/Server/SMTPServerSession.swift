package import NIOCore

/// The server's side of a connection in SMTP or LMTP, without its socket.
///
/// The caller feeds what it reads into ``receive(_:)``, as long as ``wantsInput`` is true, and then takes events from ``next()`` until that
/// is nil. Two events want an answer, and until it is given nothing but replies come: `.message` wants ``accept()`` or ``refuse(_:)``,
/// `.endOfMessage` wants ``finish(_:)``. After an answer there may be events again. Nothing traps and nothing throws: a call
/// that does not fit the state has no effect.
///
/// A violation of the protocol gets one reply, and the connection is closed: a control character or broken UTF-8 in a command, a bare
/// line feed anywhere, a lone dot between line ends that are not both CRLF, a line that is too long, HTTP, bytes behind DATA before its
/// reply, an impossible size of BDAT.
///
/// RFC 5321, RFC 2033, RFC 2920, RFC 3030
package struct SMTPServerSession: Sendable {
    /// Which of the two protocols is spoken.
    package enum Dialect: Sendable {
        case smtp
        /// RFC 2033: LHLO in place of EHLO, and a reply per recipient at the end of a message.
        case lmtp
    }

    /// What a session is like.
    package struct Settings: Sendable {
        package var dialect: Dialect
        /// Our name, in the greeting and elsewhere.
        package var hostName: String
        /// Bytes of a message after the stuffed dots were taken out; what is larger is refused with 552.
        package var maximumSize: Int
        /// Recipients of a message; more are refused with 452.
        package var maximumRecipients = 10_000
        /// Bytes of all addresses and parameters of a message; recipients beyond are refused with 452.
        package var maximumEnvelopeSize = 4 << 20
        /// Bytes of a command line with its end: the 512 of RFC 5321 §4.5.3.1.4, raised for what the extensions add.
        package var maximumLineLength = 2048
        /// Bytes that the session holds before ``SMTPServerSession/wantsInput`` turns false.
        package var maximumInput = 64 << 10
        /// Whether XFORWARD is announced and taken: only for clients that may say of others who they are.
        package var offersXFORWARD = false
        /// What is announced and taken, XFORWARD apart.
        package var extensions = Set(SMTPExtension.allCases).subtracting([.xforward])

        package init(dialect: Dialect, hostName: String, maximumSize: Int) {
            self.dialect = dialect
            self.hostName = hostName
            self.maximumSize = maximumSize
        }
    }

    /// What the caller has to do next.
    package enum Event: Sendable, Equatable {
        /// Write this.
        case reply(ByteBuffer)
        /// The client wants to send a message (DATA, or the first BDAT): answer with ``accept()`` or ``refuse(_:)``.
        case message(SMTPEnvelope)
        /// The message's next bytes, without stuffed dots, with every CRLF.
        case content(ByteBuffer)
        /// The message is complete: answer with ``finish(_:)``. No `.abandoned` comes for it any more.
        case endOfMessage
        /// The message for which `.message` came will not be completed: drop it.
        case abandoned
        /// Close the connection after what was to be written. No event follows.
        case close
    }

    let settings: Settings
    var state = State.greeting
    /// What was received and not yet looked at.
    var input = ByteBuffer()
    /// Replies that were not yet handed out.
    var output = ByteBuffer()
    /// An event that waits until the replies before it are handed out.
    var pending: Event?
    /// Whether the client will send no more.
    var inputHasEnded = false
    /// The reply with which a drained connection ends as soon as nothing is in flight.
    var farewell: SMTPReply?
    var client = Client()
    var transaction: Transaction?
    var counters = Counters()
    /// Whether the connection ends because the client broke the protocol.
    package internal(set) var wasViolated = false

    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// Whether more bytes may be fed. While it is false, read no more from the connection.
    package var wantsInput: Bool { !inputHasEnded && !state.isOver && input.readableBytes < settings.maximumInput }

    /// How long the client may take for its next bytes; nil while it is the caller whose answer is waited for.
    package var timeout: Duration? {
        switch state {
        case .deciding, .finishing, .closed: nil
        case .content, .chunk, .discarding, .discardingChunk: SMTPTimeouts.contentBlock
        case .greeting, .command, .closing: SMTPTimeouts.command
        }
    }

    /// Takes bytes from the front of `bytes`, as many as it has room for; the rest stays.
    package mutating func receive(_ bytes: inout ByteBuffer) {
        guard wantsInput else { return }
        let length = min(bytes.readableBytes, settings.maximumInput - input.readableBytes)
        guard var taken = bytes.readSlice(length: length) else { return }
        if input.readableBytes == 0 {
            input = taken
        } else {
            input.discardReadBytes()
            input.writeBuffer(&taken)
        }
    }

    /// Says that the client sends no more. What was received is still answered, then comes `.close`, after `.abandoned` if the client
    /// left in the midst of a message. A message after `.endOfMessage` still waits for its ``finish(_:)``.
    package mutating func endOfInput() { inputHasEnded = true }

    /// The next event; nil if there is none until more is received or an answer is given.
    package mutating func next() -> Event? {
        nextEvent()
    }

    /// Takes the message: the client is asked for its content.
    package mutating func accept() {
        acceptMessage()
    }

    /// Does not take the message that the client wants to send. The transaction is over.
    package mutating func refuse(_ reply: SMTPReply) {
        refuseMessage(reply)
    }

    /// Answers a complete message. The transaction is over.
    ///
    /// - Parameter replies: one in SMTP, and in LMTP one for each of the envelope's recipients, in order. In place of one that is missing,
    ///   or is neither 2xx, 4xx nor 5xx, the client is told 451.
    package mutating func finish(_ replies: [SMTPReply]) {
        finishMessage(replies)
    }

    /// Ends the connection for a reason of ours (a timeout, a shutdown) with `reply`, at once: a message in flight is abandoned. In place
    /// of the greeting it refuses a connection.
    package mutating func close(_ reply: SMTPReply) {
        end(with: reply)
    }

    /// Ends the connection with `reply` as soon as no message is in flight, which is between `.message` and ``finish(_:)``.
    package mutating func drain(_ reply: SMTPReply) {
        guard farewell == nil, !state.isOver else { return }
        farewell = reply
        if !hasMessageInFlight { end(with: reply) }
    }
}
