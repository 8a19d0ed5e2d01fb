package import NIOCore

/// One connection of a mail server to us in the protocol of Sendmail's milters, versions 2 to 6: bytes in, events and bytes out, without sockets.
///
/// After `.endOfMessage` the caller works, sends `progress()` now and then, and answers with `finish`. The message goes on byte for byte
/// as the verdict's form, in what the mail server shows its milters. It is not in our hands that
/// - the server's own Received field stands above, unseen, and other milters behind us change what they like;
/// - blanks between a name and its colon are lost (`Subject : x`), and so is what stood behind the colon if the server speaks a version
///   below 6: one space is taken off and put there;
/// - Postfix cuts a changed field at `header_size_limit` (102,400 bytes), ends the body with a line end, turns lone line feeds into CRLF, and
///   breaks lines at 998 bytes when it sends (`smtp_line_length_limit`); Sendmail folds fields at 2,048 bytes;
/// - Sendmail adds Date, From or Message-ID where they are missing, and a body can become empty in neither: it becomes one empty line;
/// - a connection that breaks between the changes ends as `milter_default_action` says: only `tempfail` keeps mail from going out half changed.
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
        /// The message that began comes to nothing, its verdict is not waited for.
        case abandoned
        /// The connection is to be closed, for good (nil) or because the mail server broke the protocol. Nothing follows.
        case close(MilterViolation?)
    }

    package init(limits: MilterLimits = MilterLimits()) {
    }

    /// Takes bytes from the mail server.
    package mutating func receive(_ bytes: ByteBuffer) -> [Event] { [] }

    /// Takes notice that the connection is gone.
    ///
    /// - Returns: `.abandoned` if a message was begun.
    package mutating func disconnect() -> [Event] { [] }

    /// Bytes that tell the mail server that we are still at work; Postfix waits 300 seconds for them (`milter_content_timeout`).
    ///
    /// - Returns: nil if no message waits, and between the pieces of a body, which may not be parted.
    package mutating func progress() -> ByteBuffer? { nil }

    /// Answers `.endOfMessage`.
    ///
    /// - Returns: bytes for the mail server. If the body of a replacement follows, `replaceBody` and `finishBody` end the answer.
    /// - Throws: `MilterEditError`; then the session still waits, and nothing was said.
    package mutating func finish(_ verdict: MilterVerdict) throws(MilterEditError) -> ByteBuffer { ByteBuffer() }

    /// The next piece of a new body, of whatever size, lines with CRLF.
    ///
    /// - Returns: bytes for the mail server.
    package mutating func replaceBody(_ piece: ByteBuffer) -> ByteBuffer { ByteBuffer() }

    /// Ends a replacement whose body followed.
    ///
    /// - Returns: bytes for the mail server.
    package mutating func finishBody() -> ByteBuffer { ByteBuffer() }
}
