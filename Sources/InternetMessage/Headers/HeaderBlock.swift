package import ByteStreams

/// The header of a message or part: its fields in order, with their original bytes.
///
/// A header ends with an empty line, at the end of the input, before a delimiter of the surrounding multipart, or before the
/// first line that cannot be a field. Programs that skip a line that cannot be a field find fields in text that is part of
/// the body here.
///
/// RFC 5322 §2.2, RFC 2045 §3
public struct HeaderBlock: Sendable {
    /// The byte order mark of UTF-8, which some programs write in front of a header.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The bytes of the fields and of any text before them, without the empty line at the end.
    public let bytes: [UInt8]
    /// The range of `bytes` in the source.
    package private(set) var range: Range<Int>
    /// The range of the empty line that ends the header. It is empty if there is no such line, or if the line belongs to the
    /// boundary after the header.
    package private(set) var separatorRange: Range<Int>
    /// The line end of the header's first line; CRLF if the header has no line end.
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

    /// Reads the header of the message in `source`; nil if the header exceeds the limit. The body is not read.
    ///
    /// - Throws: `MIMEError.unreadable`
    package init?(ofMessageIn source: any ByteSource) throws(MIMEError) {
        do throws(MIMEError) {
            self = try HeaderBlock(reading: source, from: 0, to: source.count) { _ in false }
        } catch {
            if case .unreadable = error { throw error }
            return nil
        }
    }

    /// Reads the header of `source` that starts at `start` and ends before `end`.
    ///
    /// - Parameters:
    ///   - isMessage: whether a byte order mark and the From line of an mbox file are allowed at the start.
    ///   - isDelimiter: whether a line, without its line end, is a boundary of the surrounding multipart.
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
            // The empty line after a header of the maximum size must also be read.
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

    /// The same header with its ranges limited to `place`. A line end that belongs to the following delimiter is not part of
    /// the header.
    func clamped(to place: Range<Int>) -> HeaderBlock {
        var header = self
        header.range = range.clamped(to: place)
        header.separatorRange = separatorRange.clamped(to: place)
        return header
    }

    /// The same header at a position that is `distance` bytes later, or earlier if `distance` is negative.
    func moved(by distance: Int) -> HeaderBlock {
        var header = self
        header.range = range.lowerBound + distance..<range.upperBound + distance
        header.separatorRange = separatorRange.lowerBound + distance..<separatorRange.upperBound + distance
        return header
    }

    /// The fields, in order.
    public var fields: Fields { Fields(block: bytes, extents: extents) }

    /// The first field called `name`, ignoring case; nil if there is none.
    public func first(_ name: String) -> HeaderField? { fields.first { $0.isNamed(name) } }

    /// All fields called `name`, ignoring case.
    public func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }

    /// Whether all fields only describe the body, so that the entity is not a mail.
    package var isOnlyStructural: Bool {
        leadingBytes.isEmpty && fields.allSatisfy(\.isStructural)
    }

    /// The bytes before the first field, such as a byte order mark or the From line of an mbox file.
    package var leadingBytes: ArraySlice<UInt8> { bytes[..<(extents.first.map { Int($0.start) } ?? bytes.count)] }

    /// The fields of a header, created on access.
    public struct Fields: RandomAccessCollection, Sendable {
        fileprivate let block: [UInt8]
        fileprivate let extents: [HeaderField.Extent]

        public var startIndex: Int { 0 }
        public var endIndex: Int { extents.count }
        public subscript(position: Int) -> HeaderField { HeaderField(extents[position], of: block) }
    }
}

extension HeaderBlock {
    /// The empty line at the end of the header; empty if there is none.
    package var separator: [UInt8] {
        switch separatorRange.count {
        case 0: []
        case 1: LineEnd.lf.bytes
        default: LineEnd.crlf.bytes
        }
    }

    /// The empty line at the end of the header. It is also there if the header ends at a line that is no field: some programs
    /// would find further fields after that line.
    package var ending: [UInt8] {
        separator.isEmpty && defects.contains(.missingHeaderEnd) ? lineEnd.bytes : separator
    }
}

/// The Resent fields of the latest resending. Those of earlier ones, which are below, do not determine the current
/// recipients.
///
/// RFC 5322 §3.6.6
package struct ResentFields {
    private let fields: [HeaderField]

    /// Takes the first contiguous block of Resent fields: a resending adds all its fields together, above the others.
    package init(_ header: HeaderBlock) {
        func isResent(_ field: HeaderField) -> Bool { field.name.lowercased().hasPrefix("resent-") }
        var seen: Set<String> = []
        // A resending has each field only once, so a repeated field begins the block of an earlier one.
        fields = Array(
            header.fields.drop { !isResent($0) }
                .prefix { isResent($0) && seen.insert($0.name.lowercased()).inserted }
        )
    }

    /// Whether the message was not resent.
    package var isEmpty: Bool { fields.isEmpty }

    /// The fields of the resending called `name`, ignoring case.
    package func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }
}

extension HeaderBlock {
    /// The fields with the recipients whom all can see: To and Cc, or those of the latest resending.
    package var visibleRecipientFields: [HeaderField] { recipientFields(["To", "Cc"]) }

    /// The fields with the recipients whom the others must not see: Bcc, or that of the latest resending.
    package var hiddenRecipientFields: [HeaderField] { recipientFields(["Bcc"]) }

    private func recipientFields(_ names: [String]) -> [HeaderField] {
        let resent = ResentFields(self)
        return names.flatMap { resent.isEmpty ? all($0) : resent.all("Resent-\($0)") }
    }
}
