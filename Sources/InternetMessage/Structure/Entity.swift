package import ByteStreams

/// A message or a part of a message: header, body and child parts, as ranges in a `ByteSource`.
///
/// For every message, however malformed, these rules hold, and other code relies on them:
/// - `header.range` begins where `range` begins; `header.separatorRange` and then `bodyRange` follow it without a gap.
/// - `bodyRange` ends where `range` ends.
/// - The children lie inside `bodyRange` in ascending order, and do not overlap.
///
/// Only the initializer enforces these rules. Without it, a part that begins at the delimiter of an outer multipart would
/// begin after the end of its parent, because the line break before the delimiter belongs to the delimiter.
///
/// RFC 2045 §2.4
package struct Entity: Sendable {
    /// The header with its fields. Its ranges end where the entity ends, even if `header.bytes` contains one more line end.
    package private(set) var header: HeaderBlock
    /// The range of header and body, without the line break before the next boundary.
    package private(set) var range: Range<Int>
    /// The range of the body.
    package private(set) var bodyRange: Range<Int>
    /// The type of the body; by default `text/plain`, or `message/rfc822` in a digest.
    package let contentType: ContentType
    /// How the body is encoded.
    package let transferEncoding: TransferEncoding
    /// The parts of a multipart, in order.
    package private(set) var children: [Entity]
    /// Whether a multipart has its closing delimiter; true if there is no valid boundary, as in all other types.
    package let isTerminated: Bool
    /// The defects of this entity, without those of its parts.
    package private(set) var defects: Set<MIMEDefect>

    /// An entity that begins with `header` and ends at `end`. If `end` is before the start of the header, the entity is
    /// empty.
    init(
        header: HeaderBlock,
        end: Int,
        contentType: ContentType,
        transferEncoding: TransferEncoding,
        children: [Entity],
        isTerminated: Bool,
        defects: Set<MIMEDefect>
    ) {
        let start = header.range.lowerBound
        range = start..<max(start, end)
        self.header = header.clamped(to: range)
        bodyRange = self.header.separatorRange.upperBound..<range.upperBound
        self.contentType = contentType
        self.transferEncoding = transferEncoding
        self.children = children
        self.isTerminated = isTerminated
        self.defects = defects
        clampChildren()
    }

    /// The Content-Disposition of the part (RFC 2183); nil if there is none.
    package var disposition: ContentDisposition? {
        header.first("Content-Disposition").flatMap { ContentDisposition(field: $0) }
    }

    /// The message after its header was replaced by `header`, which is `distance` bytes longer and has the same fields about
    /// the content.
    func replacing(header: HeaderBlock, longerBy distance: Int) -> Entity {
        var entity = self
        entity.header = header
        entity.range = header.range.lowerBound..<range.upperBound + distance
        entity.bodyRange = bodyRange.lowerBound + distance..<bodyRange.upperBound + distance
        entity.children = children.map { $0.moved(by: distance) }
        entity.defects = header.defects.union(defects.subtracting(self.header.defects))
        return entity
    }

    private func moved(by distance: Int) -> Entity {
        var entity = self
        entity.header = header.moved(by: distance)
        entity.range = range.lowerBound + distance..<range.upperBound + distance
        entity.bodyRange = bodyRange.lowerBound + distance..<bodyRange.upperBound + distance
        entity.children = children.map { $0.moved(by: distance) }
        return entity
    }

    /// The number of bytes of all headers in this entity.
    var headerCount: Int { children.reduce(header.bytes.count) { $0 + $1.headerCount } }

    /// Limits the children to the body, and each child to the range after the previous one.
    private mutating func clampChildren() {
        var position = bodyRange.lowerBound
        for index in children.indices {
            children[index].clamp(to: position..<bodyRange.upperBound)
            position = children[index].range.upperBound
        }
    }

    private mutating func clamp(to place: Range<Int>) {
        guard range.clamped(to: place) != range else { return }
        header = header.clamped(to: place)
        range = range.clamped(to: place)
        bodyRange = bodyRange.clamped(to: place)
        clampChildren()
    }
}

extension Entity {
    /// The body, decoded from base64 or quoted-printable.
    ///
    /// - Parameter noteMissingPadding: called at the end of base64 text that lacks its padding.
    package func decodedBody(
        of source: any ByteSource,
        noteMissingPadding: (@Sendable () -> Void)? = nil
    ) -> ByteStream {
        let text = source.stream(in: bodyRange)
        guard transferEncoding == .base64, noteMissingPadding != nil else { return transferEncoding.decoded(text) }
        return text.base64Decoded(noteMissingPadding: noteMissingPadding)
    }

    /// The maximum nesting of embedded messages that are searched for binary bodies. Each message is read as a whole.
    package static let embeddedMessages = 8

    /// The ranges of all binary bodies in this entity, whose line ends must not be changed, in ascending order.
    ///
    /// A message that cannot be read, or exceeds a limit, has no binary bodies.
    ///
    /// - Parameter messages: the maximum nesting of embedded messages to search; 0 searches none. The body of a message part
    ///   whose own transfer encoding is binary is one range.
    package func binaryRanges(in source: any ByteSource, messages: Int = Self.embeddedMessages) -> [Range<Int>] {
        guard children.isEmpty else { return children.flatMap { $0.binaryRanges(in: source, messages: messages) } }
        guard transferEncoding != .binary else { return bodyRange.isEmpty ? [] : [bodyRange] }
        guard messages > 0, let message = try? embeddedMessage(in: source) else { return [] }
        return message.binaryRanges(in: source, messages: messages - 1)
    }

    /// The entity, or a range of it, with CRLF line ends. Binary bodies are not changed.
    ///
    /// RFC 2049 §4
    ///
    /// - Parameter binary: the binary bodies in the entity; nil finds them.
    package func canonicalStream(
        of source: any ByteSource,
        range: Range<Int>? = nil,
        binary: [Range<Int>]? = nil
    ) -> ByteStream {
        stream(of: source, range: range, lineEnd: .crlf, binary: binary)
    }

    /// The whole entity, which must have no binary bodies, in canonical form. `defects` receives the original lines.
    package func canonicalStream(of source: any ByteSource, watchedBy defects: LineEndDefects) -> ByteStream {
        let place = range
        nonisolated(unsafe) let defects = defects
        return ByteStream { defects.watching(source.reader(in: place)) }.lines(endingIn: .crlf)
    }

    /// The entity, or a range of it, with lines that end in `lineEnd`. Binary bodies are not changed.
    ///
    /// - Parameter binary: the binary bodies in the entity; nil finds them.
    package func stream(
        of source: any ByteSource,
        range: Range<Int>? = nil,
        lineEnd: LineEnd,
        binary: [Range<Int>]? = nil
    ) -> ByteStream {
        let range = range ?? self.range
        let exempt = (binary ?? binaryRanges(in: source)).map { $0.clamped(to: range) }
            .map { $0.lowerBound - range.lowerBound..<$0.upperBound - range.lowerBound }
        return source.stream(in: range).lines(endingIn: lineEnd, exempt: exempt)
    }
}

extension TransferEncoding {
    /// Decodes base64 or quoted-printable text; text in other encodings is not changed.
    package func decoded(_ text: ByteStream) -> ByteStream {
        switch self {
        case .base64: text.base64Decoded()
        case .quotedPrintable: ByteStream { QuotedPrintableDecoder(try text.makeReader()) }
        case .sevenBit, .eightBit, .binary, .other: text
        }
    }
}

/// Checks the start of an entity for control characters, which a header does not contain. Noise, the result of decryption with
/// a wrong key, nearly always does.
///
/// Like `EntityStart`, this needs one table look-up for each byte, so it may be used for plaintext that was not verified yet.
package enum EntityControls {
    /// The number of bytes that are checked.
    package static let examinedCount = 256

    /// Whether the header at the start of `head` has no control characters. If it has no fields, the content after the empty
    /// line is checked instead, because it is plain text (RFC 2045 §5.2). TAB, LF, FF, CR and ESC (ISO-2022-JP) are permitted.
    package static func areAbsent(in head: [UInt8]) -> Bool {
        let table = table
        var state = State.start.rawValue
        for byte in head.prefix(examinedCount) { state = table[Int(state) << 8 | Int(byte)] }
        return state != State.no.rawValue
    }

    private enum State: UInt8, CaseIterable {
        case start
        /// In a line of the header.
        case field
        /// At the start of a line after the first one, without and with a carriage return.
        case line, lineReturn
        /// After the header's empty line.
        case body
        /// After a carriage return at the start.
        case startReturn
        /// In content without fields.
        case text
        case no
    }

    private static let table: [UInt8] = State.allCases.flatMap { state in
        (0...UInt8.max).map { next(state, $0).rawValue }
    }

    private static func next(_ state: State, _ byte: UInt8) -> State {
        let isControl = byte < 0x20 && ![0x09, .lineFeed, 0x0C, .carriageReturn, 0x1B].contains(byte) || byte == 0x7F
        return switch (state, byte) {
        case (.body, _): .body
        case (.no, _): .no
        case _ where isControl: .no
        case (.text, _), (.start, .lineFeed), (.startReturn, .lineFeed): .text
        case (.start, .carriageReturn): .startReturn
        case (.line, .lineFeed), (.lineReturn, .lineFeed): .body
        case (.line, .carriageReturn): .lineReturn
        case (_, .lineFeed): .line
        default: .field
        }
    }
}
