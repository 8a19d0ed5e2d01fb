import ByteStreams

/// Collects the pieces of a `SevenBitEncoding`.
struct SevenBitPlan {
    let source: any ByteSource
    /// The entity that is planned.
    let root: Entity
    /// Receives the output during planning; nil once this sink has received bytes that differ from the output.
    var copy: (any ByteSink)?
    private(set) var pieces: [SevenBitPiece] = []
    /// Whether all composite entities keep their Content-Transfer-Encoding; nil until it is known.
    private var keepsLabels: Bool?
    var needsEncoding = false
    var unsafeParts: [Range<Int>] = []
    var unsafeMessages: [Range<Int>] = []

    init(of root: Entity, in source: any ByteSource, copiedTo copy: (any ByteSink)?) {
        (self.root, self.source, self.copy) = (root, source, copy)
    }

    mutating func add(_ entity: Entity, replacement: SevenBitEncoding.Header?, depth: Int, isEmbedded: Bool = false)
        throws
    {
        guard depth <= MIMELimit.depth.rawValue else { throw MIMEError.limitExceeded(.depth) }
        if entity.contentType.isSigned {
            try addSigned(entity, replacement: replacement)
        } else if !entity.children.isEmpty {
            let label = try label(of: entity)
            try addHeader(of: entity, replacement: replacement, newEncoding: label)
            try addParts(of: entity, depth: depth)
        } else if let message = try entity.embeddedMessage(in: source) {
            guard !message.header.needsEncoding else {
                return try addEncoded(entity, message.header, replacement: replacement)
            }
            let label = try label(of: entity)
            try addHeader(of: entity, replacement: replacement, newEncoding: label)
            try add(message, replacement: nil, depth: depth + 1, isEmbedded: true)
        } else {
            try addLeaf(entity, replacement: replacement, isEmbedded: isEmbedded)
        }
    }

    mutating func append(_ piece: SevenBitPiece) throws {
        pieces.append(piece)
        if let copy { try piece.write(from: source, to: copy) }
    }

    /// Adds multipart/signed with unchanged content, because any change makes its signature invalid. Its signer already sent
    /// it in this form.
    ///
    /// RFC 1847 §2.1
    private mutating func addSigned(_ entity: Entity, replacement: SevenBitEncoding.Header?) throws {
        try addHeader(of: entity, replacement: replacement, newEncoding: nil)
        let statistics = try LineStatistics(of: source.reader(in: entity.bodyRange))
        // Binary content would not survive canonical line ends.
        let isConverted = statistics.bareLF > 0 && !entity.binaryRanges(in: source).isEmpty
        if statistics.hasNUL || statistics.bareCR > 0 || statistics.longestLine > 998 || isConverted {
            unsafeParts.append(entity.range)
        }
        try append(.text(entity.bodyRange, statistics))
    }

    /// The new Content-Transfer-Encoding of an entity that contains others; nil keeps the label.
    ///
    /// If signed content with 8-bit text stays anywhere in the message, all labels stay: 8bit is permitted for 7-bit content.
    private mutating func label(of entity: Entity) throws -> TransferEncoding? {
        guard let label = entity.sevenBitLabel else { return nil }
        let keepsLabels = try keepsLabels ?? holdsSignedEightBit(root, depth: 0)
        self.keepsLabels = keepsLabels
        return keepsLabels ? nil : label
    }

    /// Whether there is multipart/signed with 8-bit text in `entity`.
    private func holdsSignedEightBit(_ entity: Entity, depth: Int) throws -> Bool {
        guard depth <= MIMELimit.depth.rawValue else { throw MIMEError.limitExceeded(.depth) }
        guard !entity.contentType.isSigned else {
            return try LineStatistics(of: source.reader(in: entity.bodyRange)).has8Bit
        }
        let message = try entity.children.isEmpty ? entity.embeddedMessage(in: source) : nil
        return try (entity.children + [message].compactMap(\.self))
            .contains { try holdsSignedEightBit($0, depth: depth + 1) }
    }

    /// Adds a message in base64, because mail transport might change its header.
    private mutating func addEncoded(
        _ entity: Entity,
        _ header: HeaderBlock,
        replacement: SevenBitEncoding.Header?
    ) throws {
        // A replacement header keeps its media type, and message/global permits only UTF-8 in the header (RFC 6532 §3.7).
        guard replacement == nil, header.isUTF8 else {
            unsafeMessages.append(entity.range)
            try addHeader(of: entity, replacement: replacement, newEncoding: nil)
            return try append(.lines(entity.bodyRange))
        }
        try addHeader(of: entity, replacement: nil, newEncoding: .base64, newType: "message/global")
        try append(.encoded(entity.bodyRange, from: entity.transferEncoding, to: .base64))
    }

    private mutating func addParts(of entity: Entity, depth: Int) throws {
        var position = entity.bodyRange.lowerBound
        for (index, child) in entity.children.enumerated() {
            try addGap(
                position..<child.range.lowerBound,
                instead: (index == 0 ? "" : "\r\n") + "--\(entity.delimiter)\r\n"
            )
            try add(child, replacement: nil, depth: depth + 1)
            position = child.range.upperBound
        }
        try addGap(position..<entity.range.upperBound, instead: "\r\n--\(entity.delimiter)--\r\n")
    }

    /// Adds the bytes before, between or after the parts: delimiters, and text that mail programs do not display (RFC 2046
    /// §5.1.1). Such text is omitted if mail transport might change it.
    private mutating func addGap(_ range: Range<Int>, instead delimiter: String) throws {
        guard try !addSafeText(range) else { return }
        needsEncoding = true
        try append(.literal(Array(delimiter.utf8)))
    }

    private mutating func addLeaf(_ entity: Entity, replacement: SevenBitEncoding.Header?, isEmbedded: Bool) throws {
        let encoding = entity.transferEncoding
        let body = entity.bodyRange
        if encoding != .binary {
            let before = (pieces: pieces.count, unsafe: unsafeParts.count, needsEncoding: needsEncoding)
            try addHeader(of: entity, replacement: replacement, newEncoding: entity.sevenBitLabel)
            guard try !addSafeText(body) else { return }
            pieces.removeLast(pieces.count - before.pieces)
            unsafeParts.removeLast(unsafeParts.count - before.unsafe)
            needsEncoding = before.needsEncoding
        }
        if let target = try targetEncoding(of: entity) {
            try addHeader(of: entity, replacement: replacement, newEncoding: target, addsVersion: isEmbedded)
            try append(.encoded(body, from: encoding, to: target))
            needsEncoding = true
        } else {
            unsafeParts.append(entity.range)
            try addHeader(of: entity, replacement: replacement, newEncoding: nil)
            try append(encoding == .binary ? .exact(body) : .lines(body))
        }
    }

    /// Adds the text in `range` if no transport would change it.
    ///
    /// `copy` receives the text in windows, until a window contains a line that mail transport might change.
    ///
    /// - Returns: whether the text was added.
    private mutating func addSafeText(_ range: Range<Int>) throws -> Bool {
        let reader = StatisticsReader(source.reader(in: range))
        let isCanonical = try source.firstLineEnd(in: range) != .lf
        let isAsItIs = copy == nil || isCanonical
        let text: any ByteReader = isAsItIs ? reader : LineEndReader(reader, lineEnd: .crlf)
        let window = Window()
        // Reading stops at the first line that mail transport might change.
        while case let count = try window.fill(from: text), count > 0, reader.statistics.mayBeTransportSafe {
            try copy?.write(window.prefix(count))
        }
        let statistics = reader.finish()
        if !statistics.isTransportSafe || isCanonical && statistics.bareLF > 0 { copy = nil }
        if statistics.isTransportSafe { pieces.append(.text(range, statistics)) }
        return statistics.isTransportSafe
    }

    /// The transfer encoding for a leaf part that mail transport might change; nil if none is permitted.
    private func targetEncoding(of entity: Entity) throws -> TransferEncoding? {
        // Multipart, message/partial and message/external-body must not be encoded (RFC 2046 §5.1, §5.2.2, §5.2.3).
        let name = entity.contentType.name
        guard !entity.contentType.isMultipart, name != "message/partial", name != "message/external-body" else {
            return nil
        }
        switch entity.transferEncoding {
        case .other: return nil
        case .base64:
            do {
                try source.content(entity.bodyRange, .base64).makeReader().copy(to: CountingSink())
            } catch StreamError.malformedBase64 {
                return nil
            }
            return .base64
        case .quotedPrintable: return try shorterEncoding(of: entity)
        case .binary: return .base64
        case .sevenBit, .eightBit:
            return entity.contentType.type == "text" || entity.contentType.type == "message"
                ? try shorterEncoding(of: entity) : .base64
        }
    }

    /// Quoted-printable for mostly ASCII text; base64 if that is shorter.
    private func shorterEncoding(of entity: Entity) throws -> TransferEncoding {
        let estimate = QuotedPrintableEncoder.Estimate()
        try source.content(entity.bodyRange, entity.transferEncoding).makeReader().copy(to: estimate)
        return estimate.favoursBase64 ? .base64 : .quotedPrintable
    }
}

extension Entity {
    /// The new Content-Transfer-Encoding of content that is labelled 8bit or binary, but is in fact 7-bit; nil for other
    /// labels.
    fileprivate var sevenBitLabel: TransferEncoding? {
        transferEncoding == .eightBit || transferEncoding == .binary ? .sevenBit : nil
    }

    /// The boundary as text.
    fileprivate var delimiter: String { String(mail: contentType.boundary ?? []) }
}

extension ByteSource {
    /// The first line end in `range`; nil if there is none in the first 1,024 bytes.
    fileprivate func firstLineEnd(in range: Range<Int>) throws -> LineEnd? {
        let start = try bytes(in: range.prefix(1024))
        guard let feed = start.firstIndex(of: .lineFeed) else { return nil }
        return feed > 0 && start[feed - 1] == .carriageReturn ? .crlf : .lf
    }
}
