public import Streams

/// An entity in the form in which it can be signed and sent anywhere: canonical line ends, 7-bit, short lines, and
/// nothing that a transport would change.
///
/// Parts that need it get another transfer encoding, text quoted-printable and all else base64; their content stays
/// the same. Everything else passes byte for byte. The form can be written as often as needed and is the same each
/// time.
///
/// RFC 8551 §3.1.1-3.1.3
public struct SevenBitForm: Sendable {
    /// Whether anything but line ends has to change.
    public let needsEncoding: Bool
    /// The parts that are not safe and cannot be made so, for want of an encoding that may or can be changed.
    public let unsafeParts: [Range<Int>]

    private let source: any ByteSource
    private let pieces: [Piece]

    /// Looks through `entity`, which lies in `source`.
    ///
    /// - Parameter split: of a message only the protected entity is written, with this division's inner header.
    /// - Throws: `MIMEError.limitExceeded(.depth)` for messages too deep in each other, and what reading throws.
    public init(of entity: Entity, in source: any ByteSource, split: HeaderSplit? = nil) throws {
        var plan = Plan(source: source)
        try plan.add(entity, split: split, depth: 0)
        self.source = source
        pieces = plan.pieces
        needsEncoding = plan.needsEncoding
        unsafeParts = plan.unsafeParts
    }

    /// Writes the entity to `sink`.
    ///
    /// - Throws: what reading and writing throw.
    public func write(to sink: any ByteSink) throws {
        for piece in pieces { try piece.write(from: source, to: sink) }
    }
}

/// A stretch of the form.
private enum Piece: Sendable {
    /// Bytes of our own.
    case literal([UInt8])
    /// Text of the source, with canonical line ends.
    case lines(Range<Int>)
    /// Bytes of the source, as they are.
    case exact(Range<Int>)
    /// Content of the source in another encoding.
    case encoded(Range<Int>, from: TransferEncoding, to: TransferEncoding)

    /// Text of the source of which `census` was taken: what has canonical line ends already need not be looked through again.
    static func text(_ range: Range<Int>, _ census: LineEndCensus) -> Piece {
        census.bareLF == 0 ? .exact(range) : .lines(range)
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

/// The pieces in the making.
private struct Plan {
    let source: any ByteSource
    var pieces: [Piece] = []
    var needsEncoding = false
    var unsafeParts: [Range<Int>] = []

    mutating func add(_ entity: Entity, split: HeaderSplit?, depth: Int, isEmbedded: Bool = false) throws {
        guard depth <= MIMELimit.depth.rawValue else { throw MIMEError.limitExceeded(.depth) }
        if !entity.children.isEmpty {
            addHeader(of: entity, split: split, newEncoding: entity.sevenBitLabel)
            try addParts(of: entity, depth: depth)
        } else if let message = try entity.embeddedMessage(in: source) {
            addHeader(of: entity, split: split, newEncoding: entity.sevenBitLabel)
            try add(message, split: nil, depth: depth + 1, isEmbedded: true)
        } else {
            try addLeaf(entity, split: split, isEmbedded: isEmbedded)
        }
    }

    private mutating func addParts(of entity: Entity, depth: Int) throws {
        var position = entity.bodyRange.lowerBound
        for (index, child) in entity.children.enumerated() {
            try addGap(
                position..<child.range.lowerBound,
                instead: (index == 0 ? "" : "\r\n") + "--\(entity.delimiter)\r\n"
            )
            try add(child, split: nil, depth: depth + 1)
            position = child.range.upperBound
        }
        try addGap(position..<entity.range.upperBound, instead: "\r\n--\(entity.delimiter)--\r\n")
    }

    /// Adds what stands between two parts, before the first or after the last: delimiters, and text nobody is shown
    /// (RFC 2046 §5.1.1), which is left out if it is not safe.
    private mutating func addGap(_ range: Range<Int>, instead delimiter: String) throws {
        let census = try census(range)
        if census.isTransportSafe {
            pieces.append(.text(range, census))
        } else {
            needsEncoding = true
            pieces.append(.literal(Array(delimiter.utf8)))
        }
    }

    private mutating func addLeaf(_ entity: Entity, split: HeaderSplit?, isEmbedded: Bool) throws {
        let encoding = entity.transferEncoding
        let body = entity.bodyRange
        let census = try encoding == .binary ? nil : census(body)
        if let census, census.isTransportSafe {
            addHeader(of: entity, split: split, newEncoding: entity.sevenBitLabel)
            pieces.append(.text(body, census))
        } else if let target = try targetEncoding(of: entity) {
            addHeader(of: entity, split: split, newEncoding: target, addsVersion: isEmbedded)
            pieces.append(.encoded(body, from: encoding, to: target))
            needsEncoding = true
        } else {
            unsafeParts.append(entity.range)
            addHeader(of: entity, split: split, newEncoding: nil)
            pieces.append(encoding == .binary ? .exact(body) : .lines(body))
        }
    }

    /// The encoding that makes an unsafe leaf safe, or nil if there is none.
    private func targetEncoding(of entity: Entity) throws -> TransferEncoding? {
        // Neither a multipart nor a message in pieces may be encoded (RFC 2046 §5.1, §5.2).
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
        case .quotedPrintable: return .quotedPrintable
        case .binary: return .base64
        case .sevenBit, .eightBit:
            return entity.contentType.type == "text" || entity.contentType.type == "message"
                ? .quotedPrintable : .base64
        }
    }

    private func census(_ range: Range<Int>) throws -> LineEndCensus {
        try LineEndCensus(of: source.reader(in: range))
    }

    /// Adds the header, with a Content-Transfer-Encoding of `newEncoding` unless that is nil.
    ///
    /// - Parameter addsVersion: whether the header is a message's, where that field counts only with a MIME-Version; so
    ///   it does in the message that is made of the protected entity again.
    private mutating func addHeader(
        of entity: Entity,
        split: HeaderSplit?,
        newEncoding: TransferEncoding?,
        addsVersion: Bool = false
    ) {
        let header = entity.header
        if newEncoding != nil { needsEncoding = true }
        if let split {
            let bytes = split.innerHeader(newEncoding: newEncoding).withoutReturnsBeforeLineEnds
            return pieces.append(.literal(bytes.withLines(endingIn: .crlf)))
        }
        guard let newEncoding else {
            let clean = header.bytes.withoutReturnsBeforeLineEnds
            guard clean != header.bytes else {
                return pieces.append(.lines(entity.range.lowerBound..<entity.bodyRange.lowerBound))
            }
            needsEncoding = true
            return pieces.append(.literal((clean + header.separator).withLines(endingIn: .crlf)))
        }
        var field: [UInt8]? = NewField("Content-Transfer-Encoding", newEncoding.name).bytes(lineEnd: .crlf)
        var bytes = Array(header.leadingBytes)
        for other in header.fields {
            if other.isNamed("Content-Transfer-Encoding") {
                bytes += field ?? []
                field = nil
            } else {
                bytes += other.closedBytes(.crlf)
            }
        }
        if addsVersion, header.first("MIME-Version") == nil {
            bytes += NewField("MIME-Version", "1.0").bytes(lineEnd: .crlf)
        }
        bytes += (field ?? []) + LineEnd.crlf.bytes
        pieces.append(.literal(bytes.withoutReturnsBeforeLineEnds.withLines(endingIn: .crlf)))
    }
}

extension Array<UInt8> {
    /// The same lines, where more than one carriage return stands before a line feed with one: the others would become
    /// part of the line end wherever lines end in a line feed alone.
    fileprivate var withoutReturnsBeforeLineEnds: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for byte in self {
            while byte == .lineFeed, result.hasSuffix([.carriageReturn, .carriageReturn]) { result.removeLast() }
            result.append(byte)
        }
        return result
    }
}

extension Entity {
    /// The label that safe content gets instead of one that tells transports to expect more than seven bits.
    fileprivate var sevenBitLabel: TransferEncoding? {
        transferEncoding == .eightBit || transferEncoding == .binary ? .sevenBit : nil
    }

    /// The boundary as text.
    fileprivate var delimiter: String { String(mail: contentType.boundary ?? []) }
}

extension ByteSource {
    /// What the text in `range` stands for: the decoded content; lines are canonical but in binary content.
    fileprivate func content(_ range: Range<Int>, _ encoding: TransferEncoding) -> ByteStream {
        let raw = stream(in: range)
        return encoding == .binary ? raw : encoding.decoded(raw.lines(endingIn: .crlf))
    }
}
