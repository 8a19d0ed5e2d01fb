import ByteStreams

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
    /// The decoded content of `range`, with canonical line ends unless it is binary.
    func content(_ range: Range<Int>, _ encoding: TransferEncoding) -> ByteStream {
        let raw = stream(in: range)
        return encoding == .binary ? raw : encoding.decoded(raw.lines(endingIn: .crlf))
    }
}
