package import NIOCore

/// One connection of a mail server to a milter, in the protocol of Sendmail's milters, versions 2 to 6. The session converts
/// received bytes into events and bytes to send; it does not use sockets.
///
/// After `.endOfMessage` the caller handles the message, sends `progress()` from time to time, and replies with `finish`. The
/// mail server then passes on the message of the verdict byte for byte, with these exceptions, which a milter cannot control:
/// - The server's own Received field precedes the message, and the milter does not see it. If `header_checks` of Postfix
///   remove that field, a field that should be first becomes the second one. Later milters may change anything.
/// - Blanks between a name and its colon are lost (`Subject : x`). If the server's version is below 6, a value without a space
///   after the colon gets one (`Subject:x`).
/// - Postfix ends a new body with a line end and converts its bare line feeds to CRLF. When sending, it breaks lines at 998
///   bytes (`smtp_line_length_limit`). Sendmail breaks fields at 2,048 bytes.
/// - Sendmail adds missing Date, From or Message-ID fields before all others.
/// - A new body is never empty; it has at least one empty line.
/// - Postfix ignores the parameters of a new sender.
/// - If the connection breaks during the changes, `milter_default_action` determines the result. Only `tempfail` and
///   `shutdown` prevent mail from being sent with half of the changes.
package struct MilterSession: Sendable {
    /// An event of the session. The caller handles events in order (writes, spools, closes) and makes no protocol decisions.
    package enum Event: Hashable, Sendable {
        /// Write these bytes to the mail server.
        case write(ByteBuffer)
        /// A message begins. The macros of the envelope possibly do not contain the queue id yet; the envelope of
        /// `.endOfMessage` does.
        case begin(MilterEnvelope)
        /// The next bytes of the message, with CRLF line ends. The header comes first.
        case content(ByteBuffer)
        /// The message is complete. The session waits for `finish`.
        case endOfMessage(MilterEnvelope)
        /// The mail server abandoned the message and expects no verdict.
        case abandoned
        /// Close the connection, because of a protocol violation by the mail server, or regularly (nil). No event follows.
        case close(MilterViolation?)
    }

    /// The state of the session.
    enum Phase: Sendable {
        /// The session waits for the mail server's offer.
        case negotiation
        /// Between two messages.
        case idle
        case envelope
        case header
        case body
        /// The message is complete and waits for a verdict.
        case verdict
        /// The changes of the header were sent, and the new body follows.
        case newBody
        case closed
    }

    let limits: MilterLimits
    private var decoder: MilterPacketDecoder
    var phase = Phase.negotiation
    /// The negotiated options.
    var options = MilterOptions(version: 0, actions: [], steps: [])
    var client: MilterClient?
    /// The macros, by the command that they belong to.
    var macros: [UInt8: [MilterMacro]] = [:]
    /// The message that is being received or waits for its verdict; nil if there is none.
    var message: MilterMessage?
    /// Whether no piece of the new body was sent yet.
    var isBodyEmpty = true
    /// The number that `MilterLimits.idleCommands` limits.
    var idleCommands = 0

    /// The number of bytes of envelope and header that are held for the current message.
    package var messageSize: Int { message?.size ?? 0 }

    package init(limits: MilterLimits = MilterLimits()) {
        self.limits = limits
        decoder = MilterPacketDecoder(limits: limits)
    }

    /// Handles bytes from the mail server and returns the events.
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

    /// Ends the session because the connection was closed.
    ///
    /// - Returns: `.abandoned` if a message had begun; otherwise empty.
    package mutating func disconnect() -> [Event] { end(nil).filter { $0 == .abandoned } }

    /// Abandons the message and ends the session.
    mutating func end(_ violation: MilterViolation?) -> [Event] {
        guard phase != .closed else { return [] }
        defer { decoder = MilterPacketDecoder(limits: limits) }
        let events = forgetMessage() + [.close(violation)]
        phase = .closed
        return events
    }

    /// Forgets the current message, so that another one may begin.
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
