import ByteStreams
package import NIOCore

/// Encodes a message's content for DATA, in pieces of any size: a dot at the start of a line is doubled, and a line with a
/// single dot is added at the end.
///
/// If the last line has no CRLF, CRLF is added, because the final dot must be on a line of its own. Content that another
/// server might consider to end early (see ``SMTPContentDecoder``) is not encoded.
///
/// RFC 5321 §4.5.2
package struct DotStuffing: Sendable {
    private var scanner = SMTPLineScanner(allowsDotReturn: true)
    private var hasFailed = false

    package init() {}

    /// Encodes the next bytes of the content. Returns nil, also for all later calls, if they contain a bare line feed, or a
    /// dot that is alone after a bare carriage return or between NULs. The caller must then drop the connection without
    /// ending the message.
    package mutating func encode(_ content: ByteBuffer) -> ByteBuffer? {
        guard !hasFailed else { return nil }
        var encoded = ByteBuffer()
        var content = content
        var start = 0
        while start < content.readableBytes {
            let stop = scanner.scan(content.readableBytesSpan.octets, from: start)
            switch scanner.hasHiddenDot ? .violation : stop {
            case .exhausted: start = content.readableBytes
            case .loneDot(let end): start = end
            case .dot(let offset):
                if encoded.writerIndex == 0 { encoded.reserveCapacity(content.readableBytes + 64) }
                if var line = content.readSlice(length: offset) { encoded.writeBuffer(&line) }
                encoded.writeInteger(UInt8.dot)
                start = 1
            case .violation:
                hasFailed = true
                return nil
            }
        }
        guard encoded.readableBytes > 0 else { return content }
        encoded.writeBuffer(&content)
        return encoded
    }

    /// The bytes that end the message: CRLF if the last line has none, and the line with a single dot. Nil if ``encode(_:)``
    /// has returned nil, or if the content ends with a single dot after a bare carriage return or a NUL.
    package mutating func end() -> ByteBuffer? {
        guard !hasFailed, scanner.position != .returnDot, scanner.position != .nullDot else { return nil }
        return ByteBuffer(string: scanner.position == .lineStart ? ".\r\n" : "\r\n.\r\n")
    }
}
