package import ByteStreams
package import InternetMessage

/// Divides a message's header for S/MIME. The fields that describe the content move into the protected entity. All other
/// fields stay outside in their order. Header protection also copies them into the entity, and may hide them outside.
///
/// Decryption must restore exactly the message that was encrypted. Therefore each new outer field is written at the place of
/// the first original field with the same name, and `join` puts the original field back there. Without header protection a
/// moved field whose place no new outer field marks leaves a placeholder with its number. A field directly after another
/// moved field needs none. If the message had no MIME-Version, the added field has a recognizable form, and `join` removes
/// it.
///
/// RFC 8551 §3.1, RFC 9788 §2
package struct HeaderSplit: Sendable {
    /// The names of fields that have no protected copy although header protection is on, because the fields cannot be written
    /// in 7-bit.
    package let unprotectedNames: [String]
    /// How the fields are copied into the protected entity; nil if they are not copied.
    package let protection: HeaderProtection?
    /// How outer fields are hidden; nil if they stay unchanged.
    private let outside: HeaderProtection?

    private let header: HeaderBlock
    /// The fields of the protected entity's header.
    private let innerFields: [InnerField]
    /// The names of the moved fields, in lower case.
    private let movedNames: [String]
    /// For each name, the number of the first moved field with that name.
    private let firstNumbers: [String: Int]
    /// The names of the omitted fields, in lower case.
    private let omitted: Set<String>

    /// A field of the protected entity's header.
    private struct InnerField {
        let bytes: [UInt8]
        /// Whether the field is the Content-Transfer-Encoding.
        var isTransferEncoding = false
    }

    /// Divides the header of a whole message.
    ///
    /// - Parameters:
    ///   - omitting: names of fields to omit both outside and inside, such as `Bcc`.
    ///   - protection: how the fields are copied inside. No field is copied if the Content-Type cannot be parsed, so that
    ///     it cannot announce the copies, or if the inner header would be too long.
    ///   - hiding: how fields are hidden outside if none is copied, because the entity is a wrapped message
    ///     (`wrapped(omitting:)`) that contains all of them.
    package init(
        _ header: HeaderBlock,
        omitting: Set<String> = [],
        protection: HeaderProtection? = nil,
        hiding: HeaderProtection? = nil
    ) {
        self.header = header
        let omitted = Set(omitting.map { $0.lowercased() })
        self.omitted = omitted
        let moved = header.fields.filter(\.isContentField)
        movedNames = moved.map { $0.name.lowercased() }
        firstNumbers = movedNames.firstPlaces
        if let protection, let fields = Self.protectedFields(header, protection, omitted: omitted) {
            self.protection = protection
            outside = protection
            innerFields = fields.inside
            unprotectedNames = fields.unprotected
        } else {
            self.protection = nil
            outside = hiding
            innerFields = moved.map {
                InnerField(
                    bytes: HeaderProtection.unmarked($0, header.lineEnd),
                    isTransferEncoding: $0.isNamed("Content-Transfer-Encoding")
                )
            }
            unprotectedNames = []
        }
    }

    /// The protected entity's header, including the empty line at the end.
    package var innerHeader: [UInt8] { innerHeader(newEncoding: nil) }

    /// The protected entity's header if its body is encoded with `newEncoding`; nil keeps the encoding that the message
    /// names.
    package func innerHeader(newEncoding: TransferEncoding?) -> [UInt8] {
        guard let newEncoding else {
            // Without an empty line the body would be read as part of the header. Some programs do so even after a line at
            // which smime ends the header.
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
        // Content-Type has an effect only together with MIME-Version. This also holds in the message that decryption
        // restores.
        if header.first("MIME-Version") == nil {
            bytes += NewField("MIME-Version", value: "1.0").bytes(lineEnd: header.lineEnd)
        }
        return bytes + (field ?? []) + header.lineEnd.bytes
    }

    /// The fields of the inner header, including the message's own fields, in order, and the names of the fields without a
    /// copy; nil if the Content-Type cannot announce the copies, or the inner header would be too long.
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
            case .transport, .mechanism: break
            case .structural where field.isNamed("Content-Type"):
                guard !hasType, let bytes = protection.markedType(field, header.lineEnd) else { return nil }
                hasType = true
                inside.append(InnerField(bytes: bytes))
            case .structural:
                let isEncoding = field.isNamed("Content-Transfer-Encoding")
                inside.append(InnerField(bytes: field.terminatedBytes(header.lineEnd), isTransferEncoding: isEncoding))
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
        // The inner header must be shorter than half the limit for a header, because it contains the fields and additionally
        // the records of the outer fields.
        guard inside.reduce(0, { $0 + $1.bytes.count }) < MIMELimit.headerBytes.rawValue / 2 else { return nil }
        return (inside, unprotected)
    }

    /// The outer message's header, including the empty line, with `newFields`, which describe the protected content.
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
        guard let outside else { return field.terminatedBytes(header.lineEnd) }
        return outside.outerField(field, header.lineEnd) ?? []
    }

    /// The protected entity of `message`, to which this header belongs: inner header and body, in canonical form.
    package func canonicalEntity(of message: Entity, in source: any ByteSource) -> ByteStream {
        let header = innerHeader.withLines(endingIn: .crlf)
        let body = message.canonicalStream(of: source, range: message.bodyRange)
        return ByteStream { JoinedReader([MemorySource(header).reader(), try body.makeReader()]) }
    }
}

extension HeaderSplit {
    /// The MIME-Version that is added to a message without one. A comment marks it (RFC 2045 §4).
    static let addedVersion = NewField("MIME-Version", value: "1.0 (S/MIME)")
    /// The name of the placeholder field; its value is the number of the moved field.
    static let placeholderName = "X-Moved-Content-Field"

    /// The numbers of the moved fields that need a placeholder because nothing else marks their place.
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
    /// The first index of each name in the array.
    var firstPlaces: [String: Int] {
        Dictionary(zip(self, indices)) { first, _ in first }
    }
}
