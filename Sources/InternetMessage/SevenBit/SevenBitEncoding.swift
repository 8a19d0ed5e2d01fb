package import ByteStreams

/// An entity in a form that no mail transport changes: canonical line ends, 7-bit, short lines, and nothing else that mail
/// servers change.
///
/// Parts that are not in this form are encoded: text/* and message/* in 7bit or 8bit, and any part in quoted-printable, become
/// quoted-printable, or base64 if that is shorter. Everything else becomes base64. The decoded content stays the same. Header
/// fields of parts are written in 7-bit, and long lines in them are folded. A message whose header mail transport might
/// change must not be encoded as message/rfc822 (RFC 2046 §5.2.1), so it becomes message/global in base64, which is meant for
/// messages with a non-ASCII header (RFC 6532 §3.7). A preamble, an epilogue or text between parts is omitted if mail
/// transport might change it. All other bytes except line ends are unchanged. The form can be written repeatedly and is
/// always the same.
///
/// RFC 2045 §2.7, §6, RFC 2049 §4
package struct SevenBitEncoding: Sendable {
    /// Whether anything besides line ends must change.
    package let needsEncoding: Bool
    /// The parts that mail transport may still change, because no permitted 7-bit encoding exists for them.
    package let unsafeParts: [Range<Int>]
    /// The embedded messages that mail transport may still change, because no permitted form exists for their header.
    package let unsafeMessages: [Range<Int>]

    /// Whether `copy` received exactly the bytes of the form during planning.
    package let wasCopied: Bool

    /// Writes a header, including the empty line at its end.
    package typealias Header = (TransferEncoding?) -> [UInt8]

    private let source: any ByteSource
    private let pieces: [SevenBitPiece]

    /// Plans the form of `entity`, which is in `source`.
    ///
    /// - Parameters:
    ///   - header: writes the replacement of the entity's own header. Its argument is the transfer encoding that the header
    ///     must name; nil keeps the previous one. The fields about the content are then written in 7-bit; all others are
    ///     unchanged.
    ///   - copy: receives the form, if that is possible in the same pass; see `wasCopied`.
    /// - Throws: `MIMEError.limitExceeded`, for example for messages nested too deeply; errors of reading, and of writing to
    ///   `copy`.
    package init(
        of entity: Entity,
        in source: any ByteSource,
        header: Header? = nil,
        copiedTo copy: (any ByteSink)? = nil
    ) throws {
        var plan = SevenBitPlan(of: entity, in: source, copiedTo: copy)
        try plan.add(entity, replacement: header, depth: 0)
        self.source = source
        pieces = plan.pieces
        wasCopied = plan.copy != nil
        needsEncoding = plan.needsEncoding
        unsafeParts = plan.unsafeParts
        unsafeMessages = plan.unsafeMessages
    }

    /// Writes the entity to `sink`.
    ///
    /// - Throws: errors of reading and writing.
    package func write(to sink: any ByteSink) throws {
        for piece in pieces { try piece.write(from: source, to: sink) }
    }
}

/// One piece of a `SevenBitEncoding`, in the order of the output.
enum SevenBitPiece: Sendable {
    /// Bytes that are not from the source.
    case literal([UInt8])
    /// Text from the source, with canonical line ends.
    case lines(Range<Int>)
    /// Bytes from the source, unchanged.
    case exact(Range<Int>)
    /// Content from the source in another transfer encoding.
    case encoded(Range<Int>, from: TransferEncoding, to: TransferEncoding)

    /// A piece for text of the source with the line statistics `statistics`. Text with canonical line ends is copied
    /// unchanged.
    static func text(_ range: Range<Int>, _ statistics: LineStatistics) -> SevenBitPiece {
        statistics.bareLF == 0 ? .exact(range) : .lines(range)
    }

    func write(from source: any ByteSource, to sink: any ByteSink) throws {
        switch self {
        case .literal(let bytes): try sink.write(bytes)
        case .lines(let range): try source.content(range, .sevenBit).makeReader().copy(to: sink)
        case .exact(let range): try source.reader(in: range).copy(to: sink)
        case .encoded(let range, let old, .quotedPrintable):
            let encoder = QuotedPrintableEncoder(sink)
            try source.content(range, old).makeReader().copy(to: encoder)
            try encoder.finish()
        case .encoded(let range, let old, _):
            let encoder = Base64Encoder(sink, lineEnd: LineEnd.crlf.bytes)
            try source.content(range, old).makeReader().copy(to: encoder)
            try encoder.finish()
        }
    }
}

extension ByteSource {
    /// The content of `range` after decoding. Unless the encoding is `binary`, the text before decoding gets canonical line
    /// ends.
    func content(_ range: Range<Int>, _ encoding: TransferEncoding) -> ByteStream {
        let raw = stream(in: range)
        return encoding == .binary ? raw : encoding.decoded(raw.lines(endingIn: .crlf))
    }
}
