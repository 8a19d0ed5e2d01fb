public import Streams

/// A message's header divided for S/MIME: the fields that describe the content move into the protected entity, all
/// others stay outside in their order and bytes; with header protection they are copied inside, too.
///
/// So that decrypting gives back the very message that was encrypted, each new outer field stands where the first
/// field of its name stood, and `join` puts that one back in its place. Without header protection a moved field that
/// has no such mark and did not follow another moved field leaves a placeholder with its number. A MIME-Version that
/// the message did not have is written in a form of our own, and removed again.
///
/// RFC 8551 §3.1, RFC 9788 §2
public struct HeaderSplit: Sendable {
    /// Names of the fields that stay outside though the others are protected, as they cannot be written in seven bits.
    public let unprotectedNames: [String]
    /// How the fields are copied inside; nil if they are not.
    public let protection: HeaderProtection?

    private let header: HeaderBlock
    /// The fields of the protected entity's header.
    private let innerFields: [InnerField]
    /// The names of the fields that move, in lower case.
    private let movedNames: [String]
    /// The number of the first field of each such name.
    private let firstNumbers: [String: Int]
    /// The names of the fields that are left out, in lower case.
    private let omitted: Set<String>

    /// A field of the protected entity's header.
    private struct InnerField {
        let bytes: [UInt8]
        /// Whether it says how the body is encoded.
        var isTransferEncoding = false
    }

    /// Divides the header of a whole message.
    ///
    /// - Parameters:
    ///   - omitting: names of fields that shall stand neither outside nor inside, such as `Bcc`.
    ///   - protection: how the fields are copied inside. A Content-Type that cannot be read has no place for saying that
    ///     they are, and they are not.
    public init(_ header: HeaderBlock, omitting: Set<String> = [], protection: HeaderProtection? = nil) {
        self.header = header
        let omitted = Set(omitting.map { $0.lowercased() })
        self.omitted = omitted
        let moved = header.fields.filter(\.isContentField)
        movedNames = moved.map { $0.name.lowercased() }
        firstNumbers = movedNames.firstPlaces
        if let protection, let fields = Self.protectedFields(header, protection, omitted) {
            self.protection = protection
            innerFields = fields.inside
            unprotectedNames = fields.unprotected
        } else {
            self.protection = nil
            innerFields = moved.map {
                InnerField(
                    bytes: $0.closedBytes(header.lineEnd),
                    isTransferEncoding: $0.isNamed("Content-Transfer-Encoding")
                )
            }
            unprotectedNames = []
        }
    }

    /// The protected entity's header: its fields and the empty line after them.
    public var innerHeader: [UInt8] { innerHeader(newEncoding: nil) }

    /// The protected entity's header if its body is encoded with `newEncoding` instead of what the message said.
    func innerHeader(newEncoding: TransferEncoding?) -> [UInt8] {
        guard let newEncoding else {
            // Without an empty line the body would be taken for a header.
            let hasEnd = !header.separatorRange.isEmpty || !innerFields.isEmpty
            return innerFields.flatMap(\.bytes) + (hasEnd ? header.separator : header.lineEnd.bytes)
        }
        var field: [UInt8]? = NewField("Content-Transfer-Encoding", newEncoding.name).bytes(lineEnd: header.lineEnd)
        var bytes: [UInt8] = []
        for other in innerFields {
            guard other.isTransferEncoding else {
                bytes += other.bytes
                continue
            }
            bytes += field ?? []
            field = nil
        }
        // It counts only with a MIME-Version, also in the message that is made of the entity again.
        if header.first("MIME-Version") == nil {
            bytes += NewField("MIME-Version", "1.0").bytes(lineEnd: header.lineEnd)
        }
        return bytes + (field ?? []) + header.lineEnd.bytes
    }

    /// The inner fields with those of the message among them, in their order; nil if that cannot be told by Content-Type.
    private static func protectedFields(
        _ header: HeaderBlock,
        _ protection: HeaderProtection,
        _ omitted: Set<String>
    ) -> (inside: [InnerField], unprotected: [String])? {
        var inside: [InnerField] = []
        var unprotected: [String] = []
        var hasType = false
        for field in header.fields where !omitted.contains(field.name.lowercased()) {
            switch HeaderFieldKind(field) {
            case .carried, .mechanism: break
            case .structural where field.isNamed("Content-Type"):
                guard !hasType, let bytes = protection.markedType(field, header.lineEnd) else { return nil }
                hasType = true
                inside.append(InnerField(bytes: bytes))
            case .structural:
                let isEncoding = field.isNamed("Content-Transfer-Encoding")
                inside.append(InnerField(bytes: field.closedBytes(header.lineEnd), isTransferEncoding: isEncoding))
            case .message:
                if let bytes = protection.innerField(field, header.lineEnd) {
                    inside.append(InnerField(bytes: bytes))
                } else {
                    unprotected.append(field.name)
                }
            }
        }
        if !hasType { inside.append(InnerField(bytes: protection.addedType(header.lineEnd))) }
        inside.append(InnerField(bytes: protection.records(of: header, omitting: omitted)))
        // Twice the fields may be more than anybody reads.
        guard inside.reduce(0, { $0 + $1.bytes.count }) < MIMELimit.headerBytes.rawValue / 2 else { return nil }
        return (inside, unprotected)
    }

    /// The outer message's header with `newFields`, which describe the protected content, and its empty line.
    public func outerHeader(_ newFields: [NewField]) -> [UInt8] {
        let newNames = newFields.map { $0.name.lowercased() }
        var others = newFields.filter { firstNumbers[$0.name.lowercased()] == nil }
        if header.first("MIME-Version") == nil { others.insert(Self.addedVersion, at: 0) }
        let placeholders = protection == nil ? placeholders(newNames: newNames, hasOthers: !others.isEmpty) : []
        let otherBytes = others.flatMap { $0.bytes(lineEnd: header.lineEnd) }
        var output = Array(header.leadingBytes)
        var number = 0
        for field in header.fields {
            guard field.isContentField else {
                if !omitted.contains(field.name.lowercased()) { output += outerField(field) }
                continue
            }
            if number == 0 { output += otherBytes }
            if firstNumbers[movedNames[number]] == number, let new = newNames.firstIndex(of: movedNames[number]) {
                output += newFields[new].bytes(lineEnd: header.lineEnd)
            } else if placeholders.contains(number) {
                output += NewField(Self.placeholderName, "\(number)").bytes(lineEnd: header.lineEnd)
            }
            number += 1
        }
        return output + (number == 0 ? otherBytes : []) + header.lineEnd.bytes
    }

    private func outerField(_ field: HeaderField) -> [UInt8] {
        guard let protection else { return field.closedBytes(header.lineEnd) }
        return protection.outerField(field, header.lineEnd) ?? []
    }

    /// The header, with its empty line, of the message that `outer` was made from around an entity with the header
    /// `inner`; it has the outer header's line ends.
    ///
    /// Of the inner header only the Content-* fields count, and MIME-Version where the outer one is of our adding.
    public static func join(outer: HeaderBlock, inner: HeaderBlock) -> [UInt8] {
        let slots = outer.fields.indices.filter { isReplaced(outer.fields[$0], outer.lineEnd) }
        let hasVersion = outer.fields.contains { $0.isNamed("MIME-Version") && !isReplaced($0, outer.lineEnd) }
        let moved = inner.fields.filter { $0.isContentField || !hasVersion && $0.isNamed("MIME-Version") }
        var places = [Int: [UInt8]]()
        var place = slots.first ?? outer.fields.endIndex
        let marks = marks(slots.map { ($0, outer.fields[$0]) }, names: moved.map { $0.name.lowercased() })
        for (number, field) in moved.enumerated() {
            place = marks[number] ?? place
            places[place, default: []] += field.closedBytes(inner.lineEnd).withLines(endingIn: outer.lineEnd)
        }
        let replaced = Set(slots)
        var output = Array(outer.leadingBytes)
        for (index, field) in zip(outer.fields.indices, outer.fields) {
            output += replaced.contains(index) ? places[index] ?? [] : field.closedBytes(outer.lineEnd)
        }
        output += places[outer.fields.endIndex] ?? []
        return output + inner.separator.withLines(endingIn: outer.lineEnd)
    }

    /// The protected entity of `message`, whose header this is: inner header and body, in canonical form.
    public func canonicalEntity(of message: Entity, in source: any ByteSource) -> ByteStream {
        let header = innerHeader.withLines(endingIn: .crlf)
        let body = message.canonicalStream(of: source, range: message.bodyRange)
        return ByteStream { JoinedReader([MemorySource(header).reader(), try body.makeReader()]) }
    }
}

extension HeaderSplit {
    /// A MIME-Version that the original message does not have, marked by a comment (RFC 2045 §4).
    private static let addedVersion = NewField("MIME-Version", "1.0 (S/MIME)")
    /// Stands for the moved field whose number it has.
    private static let placeholderName = "X-Moved-Content-Field"

    /// The numbers of the moved fields that nothing else marks the place of.
    private func placeholders(newNames: [String], hasOthers: Bool) -> Set<Int> {
        var placeholders: Set<Int> = []
        var number = 0
        var (isFirstRun, followsMoved) = (true, false)
        var firstRunIsMarked = hasOthers
        for field in header.fields {
            guard field.isContentField else {
                if followsMoved { isFirstRun = false }
                followsMoved = false
                continue
            }
            let isMarked = firstNumbers[movedNames[number]] == number && newNames.contains(movedNames[number])
            if isFirstRun { firstRunIsMarked = firstRunIsMarked || isMarked }
            if !isMarked, !isFirstRun, !followsMoved { placeholders.insert(number) }
            followsMoved = true
            number += 1
        }
        return firstRunIsMarked || number == 0 ? placeholders : placeholders.union([0])
    }

    /// Whether an outer field is there only for the protected content, whoever wrote it.
    static func isReplaced(_ field: HeaderField, _ lineEnd: LineEnd) -> Bool {
        field.isContentField || field.isNamed(placeholderName)
            || field.rawBytes.elementsEqual(addedVersion.bytes(lineEnd: lineEnd))
    }

    /// For the number of each moved field whose place an outer field marks, that field's index.
    private static func marks(_ slots: [(index: Int, field: HeaderField)], names: [String]) -> [Int: Int] {
        var marks: [Int: Int] = [:]
        let firstNumbers = names.firstPlaces
        for (index, field) in slots {
            let number = field.isNamed(placeholderName) ? Int(field.value) : firstNumbers[field.name.lowercased()]
            if let number, marks[number] == nil { marks[number] = index }
        }
        return marks
    }
}

extension HeaderBlock {
    /// The empty line at the end, if there is one.
    var separator: [UInt8] {
        switch separatorRange.count {
        case 0: []
        case 1: LineEnd.lf.bytes
        default: LineEnd.crlf.bytes
        }
    }
}

extension Array<String> {
    /// Where each of them stands first.
    fileprivate var firstPlaces: [String: Int] {
        Dictionary(zip(self, indices)) { first, _ in first }
    }
}

extension HeaderField {
    /// The field's bytes, with a line end also where the input ended without one.
    func closedBytes(_ lineEnd: LineEnd) -> [UInt8] {
        rawBytes.last == .lineFeed ? Array(rawBytes) : rawBytes + lineEnd.bytes
    }
}

extension Array<UInt8> {
    /// The same lines with another end.
    func withLines(endingIn lineEnd: LineEnd) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count + 16)
        for byte in self {
            if byte == .lineFeed {
                if result.last == .carriageReturn { result.removeLast() }
                result += lineEnd.bytes
            } else {
                result.append(byte)
            }
        }
        return result
    }
}

/// Reads one reader after the other.
final class JoinedReader: ByteReader {
    private var readers: ArraySlice<any ByteReader>

    init(_ readers: [any ByteReader]) { self.readers = readers[...] }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while let reader = readers.first {
            let count = try reader.read(into: buffer)
            if count > 0 { return count }
            readers.removeFirst()
        }
        return 0
    }
}
