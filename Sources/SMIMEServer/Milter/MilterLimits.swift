/// The limits of a milter connection; beyond them it is closed.
package struct MilterLimits: Hashable, Sendable {
    /// A packet's command byte and data, in bytes; Sendmail and Postfix send body chunks of up to 65,535 bytes.
    package var packet = 65_536
    /// The same for a header field; Postfix sends up to `header_size_limit` (102,400) bytes.
    package var headerPacket = 262_144
    /// The header of one message, in bytes. A larger one cannot be edited: `MilterEditError.headerTooLarge`.
    package var header = 1_048_576
    /// The number of header fields of one message.
    package var headerFields = 20_000
    /// The number of recipients of one message.
    package var recipients = 20_000
    /// The sender's and the recipients' arguments of one message, in bytes.
    package var envelope = 4_194_304
    /// The number of commands without a part of a message since the last complete one: aborts, macros, greetings.
    package var idleCommands = 20_000

    package init() {}
}
