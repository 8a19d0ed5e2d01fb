/// The limits of a milter connection. The connection is closed if a limit other than `header` and `headerFields` is
/// exceeded.
package struct MilterLimits: Hashable, Sendable {
    /// The maximum length of a packet's command byte and data, in bytes. Sendmail and Postfix send body chunks of up to
    /// 65,535 bytes.
    package var packet = 65_536
    /// The maximum length of a packet with a header field. Postfix sends up to `header_size_limit` (102,400) bytes.
    package var headerPacket = 262_144
    /// The maximum size of the header of one message, in bytes. A larger header cannot be changed:
    /// `MilterEditError.headerTooLarge`.
    package var header = 1_048_576
    /// The maximum number of header fields in one message. With more fields the header cannot be changed, either.
    package var headerFields = 20_000
    /// The maximum number of recipients of one message.
    package var recipients = 20_000
    /// The maximum size of the sender's and the recipients' arguments of one message, in bytes.
    package var envelope = 4_194_304
    /// The maximum number of commands that are not part of a message since the last complete message: aborts, macros,
    /// greetings.
    package var idleCommands = 20_000

    package init() {}
}
