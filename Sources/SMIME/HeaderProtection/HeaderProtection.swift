package import InternetMessage

/// How the header fields of a message are copied into the signed or encrypted part.
///
/// RFC 9788 §2, §5
package struct HeaderProtection: Hashable, Sendable {
    /// How outer header fields are hidden; nil for a message that is signed but not encrypted, in which no field can be
    /// hidden.
    package let confidentiality: HeaderConfidentiality?
    /// Whether the text also contains the hidden fields, for mail programs without header protection. Text parts may then
    /// have the parameter `hp-legacy-display`.
    package let hasLegacyDisplay: Bool
    /// The charset to declare for the text of a message without a Content-Type.
    package var undeclaredCharset = UndeclaredCharset.ascii

    /// For a message that is signed but not encrypted: `hp="clear"`.
    package static let clear = HeaderProtection(confidentiality: nil, hasLegacyDisplay: false)

    /// For an encrypted message: `hp="cipher"`.
    package static func cipher(
        _ confidentiality: HeaderConfidentiality,
        hasLegacyDisplay: Bool = false
    ) -> HeaderProtection {
        HeaderProtection(confidentiality: confidentiality, hasLegacyDisplay: hasLegacyDisplay)
    }

    /// The fields of `header` that mail programs display, and that are completely or partly hidden outside.
    package func hiddenFields(of header: HeaderBlock) -> [HeaderField] {
        header.fields.filter { field in
            HeaderFieldKind(field) == .message && HeaderFieldKind.userFacingNames.contains(field.name.lowercased())
                && outerField(field, header.lineEnd) != field.terminatedBytes(header.lineEnd)
        }
    }

    /// Whether a field of `header` whose name is not in `omitted` is completely or partly hidden outside.
    func hidesFields(of header: HeaderBlock, omitting omitted: Set<String>) -> Bool {
        header.fields.contains { field in
            HeaderFieldKind(field) == .message && !omitted.contains { field.isNamed($0) }
                && outerField(field, header.lineEnd) != field.terminatedBytes(header.lineEnd)
        }
    }

    /// The value of the parameter `hp` (RFC 9788 §2.1.1).
    var scheme: String { confidentiality == nil ? "clear" : "cipher" }

    /// The name of the inner fields that record the outer fields, in lower case (RFC 9788 §2.2).
    static let recordName = "hp-outer"
    /// The parameters of Content-Type that belong to header protection.
    static let parameters: Set = ["hp", LegacyDisplay.parameter, "protected-headers"]

    /// The types of protected messages, whose parameters must be free of errors.
    private static let strictTypes: Set = [
        "application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/signed",
    ]

    /// Every Content-Type field that this library may add to a message without one.
    static let addedTypes: [[UInt8]] = UndeclaredCharset.allCases.flatMap { charset in
        [HeaderProtection.clear, .cipher(.none)].map { protection in
            var protection = protection
            protection.undeclaredCharset = charset
            return protection.addedType(.crlf)
        }
    }

    /// The Content-Type for a message without one. The order of the parameters distinguishes an added field from an original
    /// one.
    func addedType(_ lineEnd: LineEnd) -> [UInt8] {
        NewField(
            "Content-Type",
            value: "text/plain",
            parameters: [
                .init("hp", value: scheme, isQuoted: true), .init("charset", value: undeclaredCharset.rawValue),
            ]
        ).bytes(lineEnd: lineEnd)
    }

    /// The Content-Type `field` with the parameters that announce header protection; nil if the field with these parameters
    /// could not be parsed.
    func markedType(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        guard let type = ContentType(field: field) else { return nil }
        var bytes = field.terminatedBytes(lineEnd)
        // Outside the protected part the parameters of header protection have no meaning, so they are removed first.
        let meaningless = hasLegacyDisplay ? Self.parameters.subtracting([LegacyDisplay.parameter]) : Self.parameters
        if !type.parameters.names.isDisjoint(with: meaningless) {
            bytes = field.removingParameters(meaningless, lineEnd)
        }
        // Two semicolons in the type of a signed message would be a defect.
        if Self.strictTypes.contains(type.name) { bytes = bytes.withoutLastSemicolon(lineEnd) }
        guard let clean = bytes.field, case let marked = clean.appendingParameter("hp", value: scheme, lineEnd),
            let read = marked.field.flatMap({ ContentType(field: $0) }), read.parameters["hp"] == scheme,
            read.name == type.name
        else { return nil }
        return marked
    }

    /// `field` without the parameters of header protection, if it is the Content-Type of a message that is not protected.
    /// There they have no meaning, but inside the protection they would say that the header is protected.
    static func unmarked(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8] {
        guard field.isNamed("Content-Type"), let type = ContentType(field: field), !strictTypes.contains(type.name),
            !type.parameters.names.isDisjoint(with: parameters)
        else { return field.terminatedBytes(lineEnd) }
        return field.removingParameters(parameters, lineEnd)
    }

    /// The outer field for `field`; nil if there is no outer field.
    func outerField(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        guard let confidentiality, HeaderFieldKind(field) == .message else { return field.terminatedBytes(lineEnd) }
        return confidentiality.outerField(field, lineEnd: lineEnd)
    }

    /// The inner copy of `field`; nil if the field has no inner copy.
    ///
    /// In a message that is only signed, mail servers must not change the copy. There it has no blanks at line ends, and a
    /// field that cannot be written in 7-bit gets no copy.
    func innerField(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        let bytes = field.terminatedBytes(lineEnd)
        guard confidentiality == nil else { return bytes }
        if bytes.isTransportSafe { return bytes }
        let rewritten = NewField(field.name, value: field.value).bytes(lineEnd: lineEnd)
        return rewritten.isTransportSafe ? rewritten : nil
    }

    /// The HP-Outer fields that record the outer header; empty for a message that is only signed.
    func records(of header: HeaderBlock, omitting: Set<String>) -> [UInt8] {
        guard confidentiality != nil else { return [] }
        return header.fields.flatMap { field -> [UInt8] in
            guard HeaderFieldKind(field) == .message, !omitting.contains(field.name.lowercased()),
                let outer = outerField(field, header.lineEnd)
            else { return [] }
            return Array("HP-Outer: ".utf8) + outer
        }
    }
}

extension Array<UInt8> {
    /// Whether mail transport does not change these header lines.
    fileprivate var isTransportSafe: Bool { LineStatistics(of: self).isTransportSafe }

    /// This header field without semicolons and blanks at its end.
    fileprivate func withoutLastSemicolon(_ lineEnd: LineEnd) -> [UInt8] {
        guard let last = lastIndex(where: { ![0x09, 0x0A, 0x0D, 0x20, 0x3B].contains($0) }) else { return self }
        return Array(self[...last]) + lineEnd.bytes
    }
}

extension HeaderBlock {
    /// This header of a signed entity as the header of a message: with MIME-Version, and with `fields`.
    ///
    /// - Throws: `MIMEError.limitExceeded` if the header becomes too long.
    package func asMessage(with fields: [HeaderField] = [], _ end: LineEnd = .crlf) throws(MIMEError) -> HeaderBlock {
        var bytes: [UInt8] = []
        if first("MIME-Version") == nil { bytes += NewField("MIME-Version", value: "1.0").bytes(lineEnd: lineEnd) }
        for field in self.fields { bytes += field.terminatedBytes(lineEnd) }
        for field in fields { bytes += field.terminatedBytes(end).withLines(endingIn: lineEnd) }
        return try HeaderBlock(parsing: bytes + lineEnd.bytes)
    }
}

/// Which header fields of an encrypted message are hidden during transport, and which values replace them (Header
/// Confidentiality Policy).
///
/// Recipients who can decrypt the message see the hidden fields again.
///
/// RFC 9788 §3
@nonexhaustive
public enum HeaderConfidentiality: String, CaseIterable, Hashable, Sendable {
    /// The subject becomes `[...]`. Comments, Keywords (RFC 9788 §3.2.1) and the copy of the subject that Outlook stores in a
    /// field of its own are removed.
    case baseline
    /// Nothing is hidden (RFC 9788 §3.2.3).
    case none
    /// As `baseline`. In addition, the names in From, To and Cc and the time zone of Date are removed (RFC 9788 §3.2.2).
    case shy

    /// The bytes of the outer field for `field`: unchanged if nothing in the field is hidden; nil if the field is removed.
    ///
    /// Addresses are never changed (RFC 9788 §3.1.1). A field that cannot be parsed stays unchanged.
    func outerField(_ field: HeaderField, lineEnd: LineEnd) -> [UInt8]? {
        let name = field.name
        switch (self, name.lowercased()) {
        case (.none, _): break
        case (_, "subject"): return NewField(name, value: Self.obscured).bytes(lineEnd: lineEnd)
        case (_, let name) where Self.removedNames.contains(name): return nil
        case (.shy, "from"), (.shy, "to"), (.shy, "cc"):
            if let bare = Self.bareAddresses(field) { return NewField(name, value: bare).bytes(lineEnd: lineEnd) }
        case (.shy, "date"):
            if let date = MessageDate(field.value) {
                return NewField(name, value: date.universal).bytes(lineEnd: lineEnd)
            }
        default: break
        }
        return field.terminatedBytes(lineEnd)
    }

    /// The names, in lower case, of the fields that are left out of the outer header.
    static let removedNames: Set<String> = ["comments", "keywords", "thread-topic"]
    /// The replacement for a hidden subject.
    static let obscured = "[...]"

    /// The addresses of `field` without names; nil if the field is not a plain list of mailboxes, so that more than the names
    /// would be lost.
    private static func bareAddresses(_ field: HeaderField) -> String? {
        guard let list = try? AddressList(field: field), list.defects.isEmpty, !list.mailboxes.isEmpty else {
            return nil
        }
        return list.mailboxes.map(\.address.text).joined(separator: ", ")
    }
}
