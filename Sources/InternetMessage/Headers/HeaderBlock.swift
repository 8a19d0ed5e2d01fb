import ByteStreams

/// The header of a message or part: its fields in order, byte for byte.
///
/// A header ends with an empty line, with the input, or before the first line that cannot be a field; agents that
/// skip such lines instead would find fields where others see text.
///
/// RFC 5322 §2.2, RFC 2045 §3
public struct HeaderBlock: Sendable {
    /// The bytes of the fields and of any text before them, without the empty line at the end.
    public let bytes: [UInt8]
    /// The range of `bytes` in the source.
    package private(set) var range: Range<Int>
    /// The place of the empty line that ends the header. Empty if there is none, or if it belongs to the boundary that follows
    /// the header.
    package private(set) var separatorRange: Range<Int>
    /// How the header's first line ends.
    package let lineEnd: LineEnd
    /// The defects of the header itself.
    package let defects: Set<MIMEDefect>

    private let extents: [HeaderField.Extent]

    /// Reads the header at the start of `bytes`.
    ///
    /// - Throws: `MIMEError.limitExceeded(.headerBytes)`
    package init(parsing bytes: [UInt8]) throws(MIMEError) {
        self = try HeaderBlock(reading: MemorySource(bytes), from: 0, to: bytes.count) { _ in false }
    }

    /// Reads the header of `source` that starts at `start` and ends before `end`.
    ///
    /// - Parameters:
    ///   - isMessage: whether a byte order mark and a mailbox's From line may stand in front.
    ///   - isDelimiter: whether a line, without its line end, is a boundary of the multipart around it.
    /// - Throws: `MIMEError.limitExceeded(.headerBytes)`, `MIMEError.unreadable`
    init(
        reading source: any ByteSource,
        from start: Int,
        to end: Int,
        isMessage: Bool = true,
        isDelimiter: (ArraySlice<UInt8>) -> Bool
    ) throws(MIMEError) {
        let limit = MIMELimit.headerBytes.rawValue
        var length = 1_024
        while true {
            let isWhole = end - start <= length
            let chunk = try source.mailBytes(in: start..<(isWhole ? end : start + length))
            var scan = HeaderScan(chunk, isMessage: isMessage, at: start)
            if scan.run(isWhole: isWhole, isDelimiter: isDelimiter) {
                guard scan.fieldsEnd <= limit else { throw .limitExceeded(.headerBytes) }
                self.init(scan, at: start)
                return
            }
            guard length < limit + 2 else { throw .limitExceeded(.headerBytes) }
            // The empty line after the largest header must still be in view.
            length = min(length * 4, limit + 2)
        }
    }

    private init(_ scan: HeaderScan, at start: Int) {
        bytes = Array(scan.bytes[..<scan.fieldsEnd])
        range = start..<start + scan.fieldsEnd
        separatorRange = range.upperBound..<start + scan.end
        lineEnd = scan.lineEnd ?? .crlf
        defects = scan.defects
        extents = scan.extents
    }

    /// The same header with its places limited to `place`: a line end that belongs to the following delimiter is not part of it.
    func clamped(to place: Range<Int>) -> HeaderBlock {
        var header = self
        header.range = range.clamped(to: place)
        header.separatorRange = separatorRange.clamped(to: place)
        return header
    }

    /// The fields, in order.
    public var fields: Fields { Fields(block: bytes, extents: extents) }

    /// The first field called `name`, in whatever case.
    public func first(_ name: String) -> HeaderField? { fields.first { $0.isNamed(name) } }

    /// All fields called `name`, in whatever case.
    public func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }

    /// Whether every field describes the body only, so that the entity is not a mail.
    package var isOnlyStructural: Bool {
        leadingBytes.isEmpty && fields.allSatisfy(\.isStructural)
    }

    /// The bytes before the first field: a byte order mark, a mailbox's From line.
    package var leadingBytes: ArraySlice<UInt8> { bytes[..<(extents.first.map { Int($0.start) } ?? bytes.count)] }

    /// The fields of a header, made when they are asked for.
    public struct Fields: RandomAccessCollection, Sendable {
        fileprivate let block: [UInt8]
        fileprivate let extents: [HeaderField.Extent]

        public var startIndex: Int { 0 }
        public var endIndex: Int { extents.count }
        public subscript(position: Int) -> HeaderField { HeaderField(extents[position], of: block) }
    }
}

extension HeaderBlock {
    /// The empty line at the end, if there is one.
    package var separator: [UInt8] {
        switch separatorRange.count {
        case 0: []
        case 1: LineEnd.lf.bytes
        default: LineEnd.crlf.bytes
        }
    }
}
