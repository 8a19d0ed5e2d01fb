import InternetMessage
package import NIOCore

/// Encodes a message's content for DATA, in pieces of any size: a dot at the start of a line is doubled, and the lone dot follows at the end.
///
/// Where the last line has no CRLF it gets one, for the dot must stand on a line of its own. Content that another server might read as
/// ended before its end (see ``SMTPContentDecoder``) is not encoded.
///
/// RFC 5321 §4.5.2
package struct DotStuffing: Sendable {
    package init() {}

    /// The next bytes of content as they go over the wire; nil if there is a bare line feed in them or a lone dot behind a bare
    /// carriage return. After nil the connection must be dropped.
    package mutating func encode(_ content: ByteBuffer) -> ByteBuffer? { nil }

    /// What ends the message: CRLF if the last line has none, and the lone dot.
    package mutating func end() -> ByteBuffer? { nil }
}
