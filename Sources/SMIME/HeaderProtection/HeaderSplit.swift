package import ByteStreams
package import InternetMessage

/// A message's header divided for S/MIME: the fields that describe the content move into the protected entity, and all
/// others stay outside, with unchanged order and bytes. Header protection also copies these inside.
///
/// Decryption must restore exactly the message that was encrypted. Therefore each new outer field is placed where the
/// first field of its name was, and `join` puts that field back there. Without header protection a moved field leaves a
/// placeholder with its number, unless it has such a mark or follows another moved field. If the message had no
/// MIME-Version, the added one has a recognizable form, and `join` removes it.
///
/// RFC 8551 §3.1, RFC 9788 §2
package struct HeaderSplit: Sendable {
    /// Names of the fields that stay outside though the others are protected, as they cannot be written in seven bits.
    package let unprotectedNames: [String]
    /// How the fields are copied inside; nil if they are not.
    package let protection: HeaderProtection?

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
    ///   - omitting: names of fields to leave out both outside and inside, such as `Bcc`.
    ///   - protection: how the fields are copied inside. If the Content-Type cannot be read, it cannot announce the
    ///     copies, and there are none.
    package init(_ header: HeaderBlock, omitting: Set<String> = [], protection: HeaderProtection? = nil) {
        self.header = header
        let omitted = Set(omitting.map { $0.lowercased() })
        self.omitted = omitted
        let moved = header.fields.filter(\.isContentField)
        movedNames = moved.map { $0.name.lowercased() }
        firstNumbers = movedNames.firstPlaces
        if let protection, let fields = Self.protectedFields(header, protection, omitted: omitted) {
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
    package var innerHeader: [UInt8] { innerHeader(newEncoding: nil) }

    /// The protected entity's header if its body is encoded with `newEncoding` instead of what the message said.
    package func innerHeader(newEncoding: TransferEncoding?) -> [UInt8] {
        guard let newEncoding else {
            // Without an empty line the body would be read as part of the header, by some programs even after a line that ends the header
            // here.
            let isEnded = !innerFields.isEmpty && !header.defects.contains(.missingHeaderEnd)
            let hasEnd = !header.separatorRange.isEmpty || isEnded
            return innerFields.flatMap(\.bytes) + (hasEnd ? header.separator : header.lineEnd.bytes)
        }
        var field: [UInt8]? = NewField("Content-Transfer-Encoding", value: newEncoding.name).bytes(
            lineEnd: header.lineEnd
        )
        var bytes: [UInt8] = []
        for other in innerFields {
            guard other.isTransferEncoding else {
                bytes += other.bytes
                continue
            }
            bytes += field ?? []
            field = nil
        }
        // Content-Type counts only with a MIME-Version, also in the message that decryption restores.
        if header.first("MIME-Version") == nil {
            bytes += NewField("MIME-Version", value: "1.0").bytes(lineEnd: header.lineEnd)
        }
        return bytes + (field ?? []) + header.lineEnd.bytes
    }

    /// The inner fields with the message's own among them, in order; nil if Content-Type cannot announce them.
    private static func protectedFields(
        _ header: HeaderBlock,
        _ protection: HeaderProtection,
        omitted: Set<String>
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
        // The doubled fields may exceed the limit for a header.
        guard inside.reduce(0, { $0 + $1.bytes.count }) < MIMELimit.headerBytes.rawValue / 2 else { return nil }
        return (inside, unprotected)
    }

    /// The outer message's header with `newFields`, which describe the protected content, and its empty line.
    package func outerHeader(_ newFields: [NewField]) -> [UInt8] {
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
                output += NewField(Self.placeholderName, value: "\(number)").bytes(lineEnd: header.lineEnd)
            }
            number += 1
        }
        return output + (number == 0 ? otherBytes : []) + header.lineEnd.bytes
    }

    private func outerField(_ field: HeaderField) -> [UInt8] {
        guard let protection else { return field.closedBytes(header.lineEnd) }
        return protection.outerField(field, header.lineEnd) ?? []
    }

    /// The protected entity of `message`, whose header this is: inner header and body, in canonical form.
    package func canonicalEntity(of message: Entity, in source: any ByteSource) -> ByteStream {
        let header = innerHeader.withLines(endingIn: .crlf)
        let body = message.canonicalStream(of: source, range: message.bodyRange)
        return ByteStream { JoinedReader([MemorySource(header).reader(), try body.makeReader()]) }
    }
}

extension HeaderSplit {
    /// A MIME-Version that the original message does not have, marked by a comment (RFC 2045 §4).
    static let addedVersion = NewField("MIME-Version", value: "1.0 (S/MIME)")
    /// Stands for the moved field whose number it has.
    static let placeholderName = "X-Moved-Content-Field"

    /// The numbers of the moved fields whose place has no other mark.
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
}

extension Array<String> {
    /// The first index of each name.
    var firstPlaces: [String: Int] {
        Dictionary(zip(self, indices)) { first, _ in first }
    }
}
