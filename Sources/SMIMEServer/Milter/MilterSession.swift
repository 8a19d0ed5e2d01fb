package import NIOCore

/// One connection of a mail server to us in the protocol of Sendmail's milters, versions 2 to 6: bytes in, events and bytes out, without sockets.
///
/// After `.endOfMessage` the caller works, sends `progress()` now and then, and answers with `finish`. The message goes on byte for byte
/// as the verdict's form, in what the mail server shows its milters. It is not in our hands that
/// - the server's own Received field stands above, unseen (where `header_checks` of Postfix take it away, what has to be on top comes
///   second), and milters behind us change what they like;
/// - blanks between a name and its colon are lost (`Subject : x`), and so is what stood behind the colon if the server speaks a version
///   below 6: one space is taken off and put there;
/// - Postfix ends a new body with a line end, turns its lone line feeds into CRLF, and breaks lines at 998 bytes when it sends
///   (`smtp_line_length_limit`); Sendmail breaks fields at 2,048 bytes;
/// - Sendmail adds Date, From or Message-ID where they are missing, on top of all others;
/// - a new body is never empty: it is one empty line at least;
/// - Postfix ignores the parameters of a new sender;
/// - a connection that breaks between the changes ends as `milter_default_action` says: only `tempfail` and `shutdown` keep mail from going
///   out half changed.
package struct MilterSession: Sendable {
    /// What happened, in order. The runtime writes, spools and closes; it decides nothing about the protocol.
    package enum Event: Hashable, Sendable {
        /// Bytes for the mail server.
        case write(ByteBuffer)
        /// A message begins. The macros of the envelope may still miss the queue id, which comes with `.endOfMessage`.
        case begin(MilterEnvelope)
        /// The next bytes of the message, header first, lines with CRLF.
        case content(ByteBuffer)
        /// The message is whole: `finish` is waited for.
        case endOfMessage(MilterEnvelope)
        /// The mail server abandoned the message and expects no verdict.
        case abandoned
        /// The connection is to be closed, for good (nil) or because the mail server broke the protocol. Nothing follows.
        case close(MilterViolation?)
    }

    /// Where the conversation stands.
    enum Phase: Sendable {
        /// The mail server's offer is waited for.
        case negotiation
        /// Between two messages.
        case idle
        case envelope
        case header
        case body
        /// The message is whole.
        case verdict
        /// The header's changes are sent, the body follows.
        case newBody
        case closed
    }

    let limits: MilterLimits
    private var decoder: MilterPacketDecoder
    var phase = Phase.negotiation
    /// What was negotiated.
    var options = MilterOptions(version: 0, actions: [], steps: [])
    var client: MilterClient?
    /// The macros by the command they belong to.
    var macros: [UInt8: [MilterMacro]] = [:]
    /// The message being received or waiting for its verdict.
    var message: MilterMessage?
    /// Whether no piece of a new body has been sent.
    var isBodyEmpty = true
    /// The number of useless commands since the last complete message.
    var idleCommands = 0

    package init(limits: MilterLimits = MilterLimits()) {
        self.limits = limits
        decoder = MilterPacketDecoder(limits: limits)
    }

    /// Takes bytes from the mail server.
    package mutating func receive(_ bytes: ByteBuffer) -> [Event] {
        guard phase != .closed else { return [] }
        decoder.append(bytes)
        var events: [Event] = []
        do throws(MilterViolation) {
            while phase != .closed, let packet = try decoder.next() {
                try take(MilterCommand(packet), into: &events)
            }
        } catch {
            events += end(error)
        }
        return events
    }

    /// Notes that the connection was closed.
    ///
    /// - Returns: `.abandoned` if a message was begun.
    package mutating func disconnect() -> [Event] { end(nil).filter { $0 == .abandoned } }

    /// Abandons the message and ends the session.
    mutating func end(_ violation: MilterViolation?) -> [Event] {
        guard phase != .closed else { return [] }
        defer { decoder = MilterPacketDecoder(limits: limits) }
        let events = forgetMessage() + [.close(violation)]
        phase = .closed
        return events
    }

    /// Returns to the state in which a message may begin.
    mutating func forgetMessage(keepingMacros: Bool = false) -> [Event] {
        let isBegun = message?.isBegun ?? false
        message = nil
        phase = .idle
        guard !keepingMacros else { return isBegun ? [.abandoned] : [] }
        for code in macros.keys where code != MilterCommand.Code.connect && code != MilterCommand.Code.helo {
            macros[code] = nil
        }
        return isBegun ? [.abandoned] : []
    }
}
