package import ByteStreams

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

    /// The ranges of all binary bodies in this entity, whose line ends must not be changed.
    package var binaryRanges: [Range<Int>] {
        guard children.isEmpty else { return children.flatMap(\.binaryRanges) }
        return transferEncoding == .binary && !bodyRange.isEmpty ? [bodyRange] : []
    }

    /// The entity, or a range of it, with CRLF line ends. Binary bodies are not changed.
    ///
    /// RFC 2049 §4
    package func canonicalStream(of source: any ByteSource, range: Range<Int>? = nil) -> ByteStream {
        stream(of: source, range: range, lineEnd: .crlf)
    }

    /// The whole entity in canonical form. `defects` receives the original lines.
    package func canonicalStream(of source: any ByteSource, watchedBy defects: LineEndDefects) -> ByteStream {
        let place = range
        let exempt = binaryRanges.map { $0.lowerBound - place.lowerBound..<$0.upperBound - place.lowerBound }
        nonisolated(unsafe) let defects = defects
        return ByteStream { defects.watching(source.reader(in: place)) }.lines(endingIn: .crlf, exempt: exempt)
    }

    /// The entity, or a range of it, with lines that end in `lineEnd`. Binary bodies are not changed.
    package func stream(of source: any ByteSource, range: Range<Int>? = nil, lineEnd: LineEnd) -> ByteStream {
        let range = range ?? self.range
        let exempt = binaryRanges.map { $0.clamped(to: range) }
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
