import ByteStreams
package import NIOCore

/// Decodes the content of a message after DATA or BDAT, and rejects bytes that another server might interpret as the
/// message's end.
///
/// Lines must end in CRLF. These are violations:
/// - A bare line feed, also in chunks, because content received with BDAT may be passed on with DATA.
/// - A single dot between line ends that are not both CRLF. Here a bare carriage return counts as a line end. In a chunk, a
///   dot between CRLF and a bare carriage return is allowed, because the dot is doubled when the content is passed on with
///   DATA.
///
/// Other bare carriage returns are not changed.
///
/// RFC 5321 §2.3.8, §4.1.1.4, §4.5.2; RFC 3030 §2
package struct SMTPContentDecoder: Sendable {
    /// How the end of the content is found.
    package enum Framing: Sendable {
        /// DATA: a dot at the start of a line is removed, and a line with a single dot ends the content.
        case dotStuffed
        /// BDAT: the caller counts the bytes.
        case counted
    }

    /// A result of decoding.
    package enum Piece: Sendable, Equatable {
        case content(ByteBuffer)
        /// The line with a single dot was read.
        case end
        case violation
    }

    private let framing: Framing
    private var scanner: SMTPLineScanner

    package init(framing: Framing) {
        self.framing = framing
        scanner = SMTPLineScanner(allowsDotReturn: framing == .counted)
    }

    /// Decodes the next piece from the front of `bytes`; nil if `bytes` is empty.
    package mutating func next(from bytes: inout ByteBuffer) -> Piece? {
        var start = 0
        while start < bytes.readableBytes {
            switch scanner.scan(bytes.readableBytesSpan.octets, from: start) {
            case .exhausted:
                // A carriage return after a dot at the start of a line belongs to the end of the message, or is a violation.
                let isHeld = framing == .dotStuffed && scanner.position == .dotReturn
                guard !isHeld, let content = bytes.readSlice(length: bytes.readableBytes) else {
                    bytes.moveReaderIndex(to: bytes.writerIndex)
                    return nil
                }
                return .content(content)
            case .dot(let offset):
                guard framing == .dotStuffed else {
                    start = offset + 1
                    continue
                }
                let content = bytes.readSlice(length: offset)
                bytes.moveReaderIndex(forwardBy: 1)
                if let content, content.readableBytes > 0 { return .content(content) }
            case .loneDot(let end):
                guard framing == .dotStuffed else {
                    start = end
                    continue
                }
                bytes.moveReaderIndex(forwardBy: end)
                return .end
            case .violation: return .violation
            }
        }
        // The scan stopped at the last one of the bytes.
        guard start > 0, let content = bytes.readSlice(length: bytes.readableBytes) else { return nil }
        return .content(content)
    }

    /// Whether the content may end here (BDAT). If a line end were added after a dot that follows a bare carriage return, the
    /// dot would be on a line of its own.
    package var mayEnd: Bool { scanner.position != .returnDot && scanner.position != .nullDot }

    /// Whether the content so far has a line of NULs and one dot. A server that removes NULs would interpret the line as the
    /// message's end.
    package var hasHiddenDot: Bool { scanner.hasHiddenDot }
}

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
