package import NIOCore

/// The server's side of an SMTP or LMTP connection. The session does not use sockets.
///
/// The caller passes received bytes to ``receive(_:)`` while ``wantsInput`` is true, and then handles the events from
/// ``next()`` until it returns nil. Two events need an answer: `.message` needs ``accept()`` or ``refuse(_:)``, and
/// `.endOfMessage` needs ``finishMessage(with:)``. Before the answer the only further events are replies and the end of the
/// connection (`.abandoned` and `.close`).
///
/// No call traps or throws an error. A call that is not allowed in the current state has no effect.
///
/// After a protocol violation the session sends one reply, and the connection must be closed. Violations are:
/// - a command that does not begin with a word of letters, or that has a control character or invalid UTF-8
/// - a bare line feed anywhere
/// - a single dot between line ends that are not both CRLF
/// - a command line that is too long
/// - the method of an HTTP request as a command
/// - bytes after DATA before its reply
/// - an invalid size in BDAT
///
/// RFC 5321, RFC 2033, RFC 2920, RFC 3030
package struct SMTPServerSession: Sendable {
    /// The protocol of a session.
    package enum Dialect: Sendable {
        case smtp
        /// RFC 2033: LHLO instead of EHLO, and one reply for each recipient at the end of a message.
        case lmtp
    }

    /// The settings of a session.
    package struct Settings: Sendable {
        package var dialect: Dialect
        /// The name of this server, for the greeting and other replies.
        package var hostName: String
        /// The maximum size of a message, in bytes after doubled dots were removed. A larger message is refused with 552.
        package var maximumSize: Int
        /// The maximum number of recipients. Further recipients are refused with 452.
        package var maximumRecipients = 10_000
        /// The maximum number of bytes of all addresses and parameters of a message. Further recipients are refused with 452.
        package var maximumEnvelopeSize = 4 << 20
        /// The number of bytes of addresses and parameters up to which recipients are accepted even if
        /// ``SMTPServerSession/refusesMoreRecipients`` is true.
        package var assuredEnvelopeSize = 16 << 10
        /// The maximum length in bytes of a command line including its end: the 512 of RFC 5321 §4.5.3.1.4, increased for the
        /// extensions.
        package var maximumLineLength = 2048
        /// The number of bytes that the session holds before ``SMTPServerSession/wantsInput`` becomes false.
        package var maximumInput = 64 << 10
        /// Whether XFORWARD is announced and accepted. This is only for clients that are trusted to report other clients.
        package var offersXFORWARD = false
        /// The announced extensions other than XFORWARD.
        package var extensions = Set(SMTPExtension.allCases).subtracting([.xforward])

        package init(dialect: Dialect, hostName: String, maximumSize: Int) {
            self.dialect = dialect
            self.hostName = hostName
            self.maximumSize = maximumSize
        }
    }

    /// A message that the session itself refuses.
    package struct Refusal: Sendable {
        package enum Reason: Sendable {
            /// The message is larger than the maximum size.
            case size
            /// The message has a line of NULs and one dot. A server that removes NULs would interpret the line as the end of
            /// the message.
            case hiddenDot
        }

        package let reason: Reason
        /// The envelope as far as it is known.
        package let envelope: SMTPEnvelope
    }

    /// The next task of the caller.
    package enum Event: Sendable, Equatable {
        /// Write these bytes.
        case reply(ByteBuffer)
        /// The client wants to send a message (DATA, or the first BDAT). Answer with ``accept()`` or ``refuse(_:)``.
        case message(SMTPEnvelope)
        /// The next bytes of the message, without doubled dots and with CRLF line ends.
        case content(ByteBuffer)
        /// The message is complete. Answer with ``finishMessage(with:)``. The message can no longer be abandoned.
        case endOfMessage
        /// The message of the last `.message` will not be completed: drop it.
        case abandoned
        /// Close the connection after all bytes are written. No event follows.
        case close
    }

    let settings: Settings
    var state = State.greeting
    /// Received bytes that were not handled yet.
    var input = ByteBuffer()
    /// Replies that `next` has not returned yet.
    var output = ByteBuffer()
    /// An event that waits until the replies before it were returned; nil if there is none.
    var pending: Event?
    /// Whether the client will send no more.
    var inputHasEnded = false
    /// The reply that ends a draining connection as soon as no message is in flight; nil if the connection is not draining.
    var farewell: SMTPReply?
    var client = Client()
    var transaction: Transaction?
    var counters = Counters()
    /// The protocol violation that ended the connection; nil if there was none.
    package internal(set) var violation: String?
    /// The reason for ending a connection with too many errors or commands; nil if there is none.
    package internal(set) var abuse: String?
    /// The message that the session itself refused; nil if there is none. The caller may reset it.
    package internal(set) var refusal: Refusal?

    /// Whether no further recipients are accepted for a long envelope, because the server has no memory for them.
    package var refusesMoreRecipients = false

    /// Whether a QUIT waits as the next command instead of being handled.
    package var holdsQuit = false

    /// Whether QUIT is the next command, and was received already.
    package var isQuitNext: Bool {
        guard case .command = state else { return false }
        return input.readableBytesView.prefix(6).map { $0 & 0xDF } == Array("QUIT".utf8) + [0x0D & 0xDF, 0x0A & 0xDF]
    }

    /// The number of bytes in the addresses and parameters of the envelope that is being received.
    package var envelopeSize: Int { transaction?.size ?? 0 }

    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// Whether the session accepts more bytes. While it is false, do not read from the connection.
    package var wantsInput: Bool { !inputHasEnded && !state.isOver && input.readableBytes < settings.maximumInput }

    /// The time that the client may take for its next bytes; nil while the session waits for the caller.
    package var timeout: Duration? {
        switch state {
        case .deciding, .finishing, .closed: nil
        case .content, .chunk, .discarding, .discardingChunk: SMTPTimeouts.contentBlock
        case .greeting, .command, .closing: SMTPTimeouts.command
        }
    }

    /// Reads bytes from the start of `bytes`, up to the session's limit. The other bytes are left in `bytes`.
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

    /// Records that the client sends no more bytes. Bytes received before are still handled, and then `.close` follows. If
    /// the client left within a message, `.abandoned` precedes it. A message after `.endOfMessage` still waits for
    /// ``finishMessage(with:)``.
    package mutating func endOfInput() { inputHasEnded = true }

    /// The next event; nil if there is none until more bytes are received or an answer is given.
    package mutating func next() -> Event? {
        nextEvent()
    }

    /// Accepts the envelope, so that the client may send the content.
    package mutating func accept() {
        acceptMessage()
    }

    /// Refuses the message that the client wants to send. The transaction ends.
    package mutating func refuse(_ reply: SMTPReply) {
        refuseMessage(reply)
    }

    /// Replies to a complete message. The transaction ends.
    ///
    /// - Parameter replies: in SMTP one reply; in LMTP one reply for each of the envelope's recipients, in order. If a reply
    ///   is missing, or is neither 2xx, 4xx nor 5xx, the client gets 451.
    package mutating func finishMessage(with replies: [SMTPReply]) {
        replyToMessage(replies)
    }

    /// Ends the connection at once with `reply`, for a reason of the server such as a timeout or a shutdown. An
    /// incomplete message is abandoned; for a message after `.endOfMessage`, `reply` is the only reply. If the greeting
    /// was not sent yet, `reply` is sent instead.
    package mutating func close(_ reply: SMTPReply) {
        end(with: reply)
    }

    /// Ends the connection with `reply` as soon as no message is in flight. A message is in flight from `.message` to
    /// ``finishMessage(with:)``.
    package mutating func closeAfterMessage(with reply: SMTPReply) {
        guard farewell == nil, !state.isOver else { return }
        farewell = reply
        if !hasMessageInFlight { end(with: reply) }
    }
}
