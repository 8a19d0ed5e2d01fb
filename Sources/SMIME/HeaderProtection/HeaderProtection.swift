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

    /// The fields of `header` that are completely or partly hidden outside.
    package func hiddenFields(of header: HeaderBlock) -> [HeaderField] {
        header.fields.filter { field in
            HeaderFieldKind(field) == .message && HeaderFieldKind.shownNames.contains(field.name.lowercased())
                && outerField(field, header.lineEnd) != field.closedBytes(header.lineEnd)
        }
    }

    /// The value of the parameter `hp` (RFC 9788 §2.1.1).
    var scheme: String { confidentiality == nil ? "clear" : "cipher" }

    /// The name of the inner fields that record the outer fields, in lower case (RFC 9788 §2.2).
    static let recordName = "hp-outer"
    /// The parameters of Content-Type that belong to header protection.
    static let parameters: Set = ["hp", LegacyDisplay.parameter, "protected-headers"]

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
        var bytes = field.closedBytes(lineEnd)
        // Outside the protected part the parameters of header protection have no meaning, so they are removed first.
        let meaningless = hasLegacyDisplay ? Self.parameters.subtracting([LegacyDisplay.parameter]) : Self.parameters
        if !type.parameters.names.isDisjoint(with: meaningless) {
            bytes = field.removingParameters(meaningless, lineEnd)
        }
        guard let clean = bytes.field, case let marked = clean.appendingParameter("hp", value: scheme, lineEnd),
            let read = marked.field.flatMap({ ContentType(field: $0) }), read.parameters["hp"] == scheme,
            read.name == type.name
        else { return nil }
        return marked
    }

    /// The outer field for `field`; nil if there is no outer field.
    func outerField(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        guard let confidentiality, HeaderFieldKind(field) == .message else { return field.closedBytes(lineEnd) }
        return confidentiality.outerField(field, lineEnd: lineEnd)
    }

    /// The inner copy of `field`; nil if the field has no inner copy.
    ///
    /// The signed copy must not be changed by mail servers. Therefore blanks at line ends are removed, and a field that
    /// cannot be written in 7-bit gets no copy.
    func innerField(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        let bytes = field.closedBytes(lineEnd)
        guard confidentiality == nil else { return bytes }
        if bytes.isTransportSafe { return bytes }
        let rewritten = NewField(field.name, value: field.value).bytes(lineEnd: lineEnd)
        return rewritten.isTransportSafe ? rewritten : nil
    }

    /// The HP-Outer fields that record the outer header.
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
}
