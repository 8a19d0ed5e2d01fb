package import InternetMessage

/// The header fields inside a signed or encrypted entity.
///
/// They are only as trustworthy as the layers around them: nothing is verified here.
///
/// RFC 9788 §4
public struct ProtectedHeader: Sendable {
    /// How the fields were copied into the entity.
    public enum Scheme: String, Sendable {
        /// `hp="cipher"`: the sender hid some fields, and recorded the outer ones (RFC 9788 §2.1.1).
        case cipher = "hp-cipher"
        /// `hp="clear"`: nothing is hidden (RFC 9788 §2.1.1).
        case clear = "hp-clear"
        /// `protected-headers="v1"`: what several agents did before there was a standard.
        case draft = "protected-headers-v1"
        /// The whole message is inside as message/rfc822 (RFC 8551 §3.1).
        case wrapped = "message-rfc822"

        /// Whether all fields of the message are inside, so that a field which is only outside was added in transit.
        public var isComplete: Bool { self == .cipher || self == .clear }
    }

    /// How the fields were copied inside.
    package let scheme: Scheme
    /// The header with the fields: the protected entity's own, or the wrapped message's.
    package let header: HeaderBlock
    /// What the sender says to have left outside.
    private let records: Set<Statement>

    /// Reads the header of a protected entity; nil if it does not say that the message's fields are among it.
    package init?(of entity: HeaderBlock) {
        guard let parameters = entity.first("Content-Type").flatMap({ ContentType(field: $0) })?.parameters else {
            return nil
        }
        switch (parameters["hp"]?.lowercased(), parameters["protected-headers"]?.lowercased()) {
        case ("cipher", _): scheme = .cipher
        case ("clear", _): scheme = .clear
        case (_, "v1"): scheme = .draft
        default: return nil
        }
        header = entity
        records = Set(entity.all(HeaderProtection.recordName).compactMap { Statement(record: $0) })
    }

    /// The header of the message in `wrapper`, a protected entity; nil if that message was only forwarded.
    ///
    /// A sender who protects the header by wrapping says `forwarded=no`, or the outer header has the same author and date as the
    /// message inside.
    package init?(wrapped message: HeaderBlock, in wrapper: HeaderBlock, outer: HeaderBlock) {
        guard let type = wrapper.first("Content-Type").flatMap({ ContentType(field: $0) }), type.isMessage else {
            return nil
        }
        let stated = type.parameters["forwarded"]?.lowercased()
        guard stated == "no" || stated == nil && Self.isSameMessage(message, as: outer) else { return nil }
        scheme = .wrapped
        header = message
        records = []
    }

    /// Which protected fields the header of a decrypted message gets.
    package enum Extent: Sendable {
        /// All fields of the message.
        case all
        /// Only the fields that a gateway may take out of an encrypted header: Subject, Comments, Keywords, From, To,
        /// Cc, Reply-To, Date, Message-ID, References and In-Reply-To; of the fields about the content those of MIME.
        /// Each is taken once, but Comments and Keywords as often as they occur.
        case gateway

        func includes(_ name: String) -> Bool { self == .all || HeaderFieldKind.gatewayNames.contains(name) }

        /// Whether the restored header includes the content field `name`, in lower case.
        func includesContent(_ name: String) -> Bool {
            self == .all || HeaderFieldKind.gatewayContentNames.contains(name)
        }

        /// `fields` with each name only once, except those that may be repeated.
        func once(_ fields: [HeaderField]) -> [HeaderField] {
            guard self == .gateway else { return fields }
            var seen = Set<String>()
            return fields.filter { field in
                let name = field.name.lowercased()
                return seen.insert(name).inserted || HeaderFieldKind.repeatedNames.contains(name)
            }
        }
    }

    private init(_ scheme: Scheme, _ header: HeaderBlock, records: Set<Statement>) {
        self.scheme = scheme
        self.header = header
        self.records = records
    }

    /// The same with another form of the entity's header.
    package func with(header: HeaderBlock) -> ProtectedHeader { ProtectedHeader(scheme, header, records: records) }

    /// Only the fields that are hidden outside, in the header `inner` of an entity whose signature is kept. All other outer
    /// fields are left for the recipient to compare.
    ///
    /// - Throws: `MIMEError.limitExceeded` for a header that is too long.
    package func hiddenFields(outer: HeaderBlock, above inner: HeaderBlock) throws(MIMEError) -> ProtectedHeader {
        let hidden = Set(hiddenNames(outer: outer))
        let fields = fields.filter { hidden.contains($0.name.lowercased()) }
        return ProtectedHeader(.draft, try inner.asMessage(with: fields, header.lineEnd), records: [])
    }

    /// The fields of the message, in order.
    package var fields: [HeaderField] { header.fields.filter { HeaderFieldKind($0) == .message } }

    /// The addresses of the fields called `name`; nil if there is no such field.
    package func addresses(_ name: String) -> Set<EmailAddress>? {
        header.first(name) == nil ? nil : header.readableAddresses(name)
    }

    /// Whether nothing is hidden, and the fields of the message stand in `outer` byte for byte and in this order, without others.
    func isCopied(in outer: HeaderBlock) -> Bool {
        guard scheme == .clear else { return false }
        let others = outer.fields.lazy.filter { HeaderFieldKind($0) == .message }
        return fields.elementsEqual(others) { $0.rawBytes == $1.rawBytes }
    }

    /// The names, in lower case, of the fields that were hidden outside, completely or in part.
    ///
    /// Without HP-Outer records: those whose value in `outer` differs from the one inside.
    package func hiddenNames(outer: HeaderBlock) -> [String] {
        switch scheme {
        case .cipher: names(missingIn: records)
        case .clear: []
        case .draft, .wrapped: names(missingIn: Self.statements(of: outer))
        }
    }

    /// The names, in lower case, of the fields whose outer value is neither the one that the sender recorded nor the one inside.
    /// (A decrypting gateway copies the value inside to the outside.)
    package func differingNames(outer: HeaderBlock) -> [String] {
        let statements = Self.statements(of: outer)
        guard scheme == .cipher else { return names(missingIn: statements) }
        let left = Dictionary(grouping: records, by: \.name)
        let shown = Set(statements.map(\.name))
        let changed = Set(names(missingIn: statements))
        return names { name in
            guard changed.contains(name) else { return false }
            guard let left = left[name] else { return shown.contains(name) }
            return !statements.isSuperset(of: left)
        }
    }

    /// The names, in lower case, of fields that are only outside, or that occur outside with one more value.
    ///
    /// Fields that mail servers add are ignored.
    package func addedNames(outer: HeaderBlock) -> [String] {
        let known = Set(fields.map { $0.name.lowercased() })
        let left = scheme == .cipher ? records : Set(fields.map { Statement($0) })
        let expected = Dictionary(grouping: left, by: \.name).mapValues { Set($0) }
        let statements = Dictionary(grouping: Self.statements(of: outer), by: \.name)
        var seen: Set<String> = []
        return outer.fields.filter { HeaderFieldKind($0) == .message }.map { $0.name.lowercased() }.filter { name in
            guard seen.insert(name).inserted else { return false }
            guard let expected = expected[name] else { return !known.contains(name) }
            // A missing statement counts as a change.
            let found = Set(statements[name] ?? [])
            return expected.isStrictSubset(of: found)
        }
    }

    /// Whether readers show fields of this name, in lower case, or act upon them.
    package static func isShown(_ name: String) -> Bool { HeaderFieldKind.shownNames.contains(name) }

    /// Whether mail servers add a field of this name, in lower case, where its author left it out (RFC 6409 §8.2, §8.3).
    package static func isCompleted(_ name: String) -> Bool { HeaderFieldKind.completedNames.contains(name) }

    /// The names, in lower case and each once, that `isMeant`.
    private func names(where isMeant: (String) -> Bool) -> [String] {
        var seen: Set<String> = []
        return fields.map { $0.name.lowercased() }.filter { seen.insert($0).inserted && isMeant($0) }
    }

    /// The names of the fields of which one is not among `statements`.
    private func names(missingIn statements: Set<Statement>) -> [String] {
        let missing = Set(fields.map { Statement($0) }.filter { !statements.contains($0) }.map(\.name))
        return names(where: missing.contains)
    }

    private static func statements(of header: HeaderBlock) -> Set<Statement> {
        Set(header.fields.map { Statement($0) })
    }

    private static func isSameMessage(_ message: HeaderBlock, as outer: HeaderBlock) -> Bool {
        guard let author = author(message), !author.isEmpty, author == Self.author(outer) else { return false }
        return ["Message-ID", "Date"].contains { name in
            guard let inner = message.first(name), let outer = outer.first(name) else { return false }
            return Statement(inner) == Statement(outer)
        }
    }

    private static func author(_ header: HeaderBlock) -> [EmailAddress]? {
        header.first("From").flatMap { try? AddressList(field: $0) }?.addresses
    }
}

/// The value of a field without folding, blanks and encoding.
private struct Statement: Hashable {
    /// In lower case.
    let name: String
    let value: String

    init(_ field: HeaderField) {
        name = field.name.lowercased()
        value = Self.plain(field.displayValue)
    }

    /// The value that an HP-Outer field records for another field.
    init?(record: HeaderField) {
        let text = record.value
        guard let colon = text.firstIndex(of: ":") else { return nil }
        name = text[..<colon].trimmingPrefix { $0 == " " }.lowercased()
        guard let field = Array("X: \(text[text.index(after: colon)...])\r\n".utf8).field else { return nil }
        value = Self.plain(field.displayValue)
    }

    private static func plain(_ text: String) -> String {
        // Nearly every field is ASCII and needs no Unicode tables.
        guard !text.utf8.allSatisfy({ $0 < 128 }) else {
            return text.utf8.split { $0 == 0x20 || 0x09...0x0D ~= $0 }.map { String(Substring($0)) }.joined(
                separator: " "
            )
        }
        return text.unicodeScalars.split { $0.properties.isWhitespace }.map { String($0) }.joined(separator: " ")
    }
}
