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
    /// The protocol of a session.
    package enum Dialect: Sendable {
        case smtp
        /// RFC 2033: LHLO in place of EHLO, and a reply per recipient at the end of a message.
        case lmtp
    }

    /// The settings of a session.
    package struct Settings: Sendable {
        package var dialect: Dialect
        /// The name of this server, in the greeting and elsewhere.
        package var hostName: String
        /// The largest message, in bytes without stuffed dots; a larger one is refused with 552.
        package var maximumSize: Int
        /// The largest number of recipients; more are refused with 452.
        package var maximumRecipients = 10_000
        /// The most bytes of all addresses and parameters of a message; recipients beyond that are refused with 452.
        package var maximumEnvelopeSize = 4 << 20
        /// Bytes of a command line with its end: the 512 of RFC 5321 §4.5.3.1.4, raised for what the extensions add.
        package var maximumLineLength = 2048
        /// Bytes that the session holds before ``SMTPServerSession/wantsInput`` turns false.
        package var maximumInput = 64 << 10
        /// Whether XFORWARD is announced and accepted: only for clients that are trusted to report other clients.
        package var offersXFORWARD = false
        /// The announced extensions other than XFORWARD.
        package var extensions = Set(SMTPExtension.allCases).subtracting([.xforward])

        package init(dialect: Dialect, hostName: String, maximumSize: Int) {
            self.dialect = dialect
            self.hostName = hostName
            self.maximumSize = maximumSize
        }
    }

    /// Why the session refuses a message by itself.
    package enum Refusal: Sendable {
        /// It is larger than allowed.
        case size
        /// It has a line of NULs and one dot, which a server that removes NULs would read as the end of the message.
        case hiddenDot
    }

    /// What the caller has to do next.
    package enum Event: Sendable, Equatable {
        /// Write these bytes.
        case reply(ByteBuffer)
        /// The client wants to send a message (DATA, or the first BDAT): answer with ``accept()`` or ``refuse(_:)``.
        case message(SMTPEnvelope)
        /// The next bytes of the message, without stuffed dots and with CRLF line ends.
        case content(ByteBuffer)
        /// The message is complete: answer with ``finish(_:)``. It can no longer be abandoned.
        case endOfMessage
        /// The message for which `.message` came will not be completed: drop it.
        case abandoned
        /// Close the connection after all bytes are written. No event follows.
        case close
    }

    let settings: Settings
    var state = State.greeting
    /// Received bytes that are not handled yet.
    var input = ByteBuffer()
    /// Replies that are not yet handed out.
    var output = ByteBuffer()
    /// An event that waits until the replies before it are handed out.
    var pending: Event?
    /// Whether the client will send no more.
    var inputHasEnded = false
    /// The reply that ends a drained connection as soon as no message is in flight.
    var farewell: SMTPReply?
    var client = Client()
    var transaction: Transaction?
    var counters = Counters()
    /// How the client broke the protocol, which ends the connection; nil if it did not.
    package internal(set) var violation: String?
    /// Why the connection of a client that sends commands and no mail is ended; nil if it is not.
    package internal(set) var abuse: String?
    /// Why a message was refused by the session alone; the caller may set it back.
    package internal(set) var refusal: Refusal?

    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// Whether more bytes may be fed. While it is false, read no more from the connection.
    package var wantsInput: Bool { !inputHasEnded && !state.isOver && input.readableBytes < settings.maximumInput }

    /// How long the client may take for its next bytes; nil while the session waits for the caller.
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

    /// Accepts the envelope: the client is asked for the content.
    package mutating func accept() {
        acceptMessage()
    }

    /// Refuses the message that the client wants to send. The transaction ends.
    package mutating func refuse(_ reply: SMTPReply) {
        refuseMessage(reply)
    }

    /// Replies to a complete message. The transaction ends.
    ///
    /// - Parameter replies: one in SMTP, and in LMTP one for each of the envelope's recipients, in order. If one is missing,
    ///   or is neither 2xx, 4xx nor 5xx, the client gets 451.
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
