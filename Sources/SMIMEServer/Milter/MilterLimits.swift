/// How much a milter connection may send before it is closed.
package struct MilterLimits: Hashable, Sendable {
    /// A packet's command byte and data, in bytes; Sendmail and Postfix send body chunks of up to 65,535 bytes.
    package var packet = 65_536
    /// The same for a header field, which Postfix passes on at up to `header_size_limit` (102,400) bytes.
    package var headerPacket = 262_144
    /// The fields of one message, in bytes. What a larger header held cannot be edited: `MilterEditError.headerTooLarge`.
    package var header = 1_048_576
    /// The fields of one message.
    package var headerFields = 20_000
    /// The recipients of one message.
    package var recipients = 20_000
    /// The sender's and the recipients' arguments of one message, in bytes.
    package var envelope = 4_194_304
    /// Commands since the last whole message that bring no part of a message: aborts, macros, greetings.
    package var idleCommands = 20_000

    package init() {}
}
