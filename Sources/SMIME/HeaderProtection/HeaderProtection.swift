package import InternetMessage

/// How a message's header fields are copied into what is signed or encrypted.
///
/// RFC 9788 §2, §5
package struct HeaderProtection: Hashable, Sendable {
    /// How outer header fields are hidden; nil for a message that is only signed, where nothing can be hidden.
    package let confidentiality: HeaderConfidentiality?
    /// Whether the hidden fields were also written into the text, for readers without header protection. Text parts may then be
    /// marked `hp-legacy-display`.
    package let hasLegacyDisplay: Bool
    /// The charset to declare for the text of a message without a Content-Type.
    package var undeclaredCharset = UndeclaredCharset.ascii

    /// For a message that is signed and not encrypted: `hp="clear"`.
    package static let clear = HeaderProtection(confidentiality: nil, hasLegacyDisplay: false)

    /// For a message that is encrypted: `hp="cipher"`.
    package static func cipher(
        _ confidentiality: HeaderConfidentiality,
        hasLegacyDisplay: Bool = false
    ) -> HeaderProtection {
        HeaderProtection(confidentiality: confidentiality, hasLegacyDisplay: hasLegacyDisplay)
    }

    /// The fields of `header` of which something is not shown outside.
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
    /// The parameters of Content-Type that are of the mechanism.
    static let parameters: Set = ["hp", LegacyDisplay.parameter, "protected-headers"]

    /// Every Content-Type that may have been added to a message.
    static let addedTypes: [[UInt8]] = UndeclaredCharset.allCases.flatMap { charset in
        [HeaderProtection.clear, .cipher(.none)].map { protection in
            var protection = protection
            protection.undeclaredCharset = charset
            return protection.addedType(.crlf)
        }
    }

    /// A Content-Type for a message without one. The order of its parameters distinguishes it from an original one.
    func addedType(_ lineEnd: LineEnd) -> [UInt8] {
        NewField(
            "Content-Type",
            value: "text/plain",
            parameters: [
                .init("hp", value: scheme, isQuoted: true), .init("charset", value: undeclaredCharset.rawValue),
            ]
        ).bytes(lineEnd: lineEnd)
    }

    /// The Content-Type that says inside that the fields around it are protected; nil if it cannot be read with that.
    func markedType(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        guard let type = ContentType(field: field) else { return nil }
        var bytes = field.closedBytes(lineEnd)
        // Header protection parameters outside of protection have no meaning.
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

    /// The outer field for `field`; nil for none.
    func outerField(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        guard let confidentiality, HeaderFieldKind(field) == .message else { return field.closedBytes(lineEnd) }
        return confidentiality.outerField(field, lineEnd: lineEnd)
    }

    /// The inner copy of `field`; nil if there is only an outer one.
    ///
    /// A signed copy must pass every mail server unchanged: blanks at line ends are removed, and a field that cannot be
    /// written in seven bits gets no copy.
    func innerField(_ field: HeaderField, _ lineEnd: LineEnd) -> [UInt8]? {
        let bytes = field.closedBytes(lineEnd)
        guard confidentiality == nil else { return bytes }
        if bytes.isTransportSafe { return bytes }
        let rewritten = NewField(field.name, value: field.value).bytes(lineEnd: lineEnd)
        return rewritten.isTransportSafe ? rewritten : nil
    }

    /// The fields that record the outer header.
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
    /// Whether these header lines pass every transport as they are.
    fileprivate var isTransportSafe: Bool { LineStatistics(of: self).isTransportSafe }
}
