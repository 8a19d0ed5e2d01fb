import ByteStreams
import InternetMessage
package import NIOCore

/// Parses the replies of a server from a byte stream, with a limit on the bytes kept in memory.
///
/// RFC 5321 §4.2
package struct SMTPReplyParser: Sendable {
    /// A result of parsing.
    package enum Item: Sendable, Equatable {
        case reply(SMTPReply)
        /// The bytes are not SMTP, or a reply is too long. Nothing more can be read.
        case malformed
    }

    /// The maximum length of a line in bytes. RFC 5321 §4.5.3.1.5 allows servers 512.
    static let maximumLineLength = 2048
    /// The maximum number of lines in a reply.
    static let maximumLines = 100

    private var input = ByteBuffer()
    private var lines: [String] = []
    private var code = 0
    private var hasFailed = false

    package init() {}

    /// Reads all of `bytes`.
    package mutating func receive(_ bytes: inout ByteBuffer) {
        guard !hasFailed else { return bytes.clear() }
        if input.readableBytes == 0 {
            input = bytes.slice()
            bytes.moveReaderIndex(to: bytes.writerIndex)
        } else {
            input.discardReadBytes()
            input.writeBuffer(&bytes)
        }
    }

    /// The next reply; nil until it is complete.
    package mutating func next() -> Item? {
        guard !hasFailed else { return nil }
        while true {
            let limit = Self.maximumLineLength
            let found = input.readableBytesSpan.octets.extracting(first: limit).firstOffset(of: .lineFeed)
            guard let found else { return input.readableBytes < Self.maximumLineLength ? nil : fail() }
            guard let line = input.readSlice(length: found + 1)?.readableBytesView,
                let isLast = take(line)
            else { return fail() }
            guard isLast else { continue }
            defer { lines = [] }
            return .reply(reply)
        }
    }

    private mutating func fail() -> Item {
        hasFailed = true
        input = ByteBuffer()
        lines = []
        return .malformed
    }

    /// Reads a line of a reply, including its line end. Returns whether it is the last line of the reply; nil if it is
    /// malformed.
    private mutating func take(_ line: ByteBufferView) -> Bool? {
        let bytes = Array(line)
        guard bytes.count >= 5, bytes[bytes.count - 2] == .carriageReturn, lines.count < Self.maximumLines,
            0x32...0x35 ~= bytes[0], 0x30...0x35 ~= bytes[1], bytes[2].isDigit
        else { return nil }
        let code = bytes.prefix(3).reduce(0) { 10 * $0 + Int($1 - 0x30) }
        guard lines.isEmpty || code == self.code else { return nil }
        self.code = code
        let text = bytes.dropFirst(3).dropLast(2)
        guard text.isEmpty || text.first == UInt8(ascii: " ") || text.first == UInt8(ascii: "-") else { return nil }
        lines.append(String(decoding: text.dropFirst(), as: UTF8.self))
        return text.first != UInt8(ascii: "-")
    }

    /// The reply that consists of the lines. The enhanced code of the first line is removed from all lines that have it.
    private var reply: SMTPReply {
        let first = lines.first?.prefix { $0 != " " } ?? ""
        guard let enhanced = EnhancedStatusCode(first), enhanced.statusClass == code / 100 else {
            return SMTPReply(code, nil, text: lines.joined(separator: "\n"))
        }
        let texts = lines.map { line -> Substring in
            guard line.hasPrefix(first) else { return line[...] }
            let rest = line.dropFirst(first.count)
            return rest.isEmpty || rest.hasPrefix(" ") ? rest.dropFirst() : line[...]
        }
        return SMTPReply(code, enhanced, text: texts.joined(separator: "\n"))
    }
}
