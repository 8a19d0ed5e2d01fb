package import InternetMessage

/// The header fields inside a signed or encrypted entity.
///
/// The fields are only as trustworthy as the layers around them; this type verifies nothing.
///
/// RFC 9788 §4
public struct ProtectedHeader: Sendable {
    /// How the fields were copied into the entity.
    @nonexhaustive
    public enum Scheme: String, Sendable {
        /// `hp="cipher"`: the sender encrypted the message, may have hidden fields, and recorded the outer fields (RFC 9788
        /// §2.1.1).
        case cipher = "hp-cipher"
        /// `hp="clear"`: no field is hidden (RFC 9788 §2.1.1).
        case clear = "hp-clear"
        /// `protected-headers="v1"`: the scheme of several mail programs before RFC 9788.
        case draft = "protected-headers-v1"
        /// The protected entity is the whole message as message/rfc822 (RFC 8551 §3.1).
        case wrapped = "message-rfc822"

        /// Whether the entity contains all fields of the message, so that a field found only outside was added in transit.
        public var isComplete: Bool { self == .cipher || self == .clear }
    }

    /// How the fields were copied into the entity.
    package let scheme: Scheme
    /// The header that contains the fields: the protected entity's own header, or the header of the wrapped message.
    package let header: HeaderBlock
    /// The outer fields that the sender recorded in HP-Outer.
    private let records: Set<NormalizedField>
    /// The names, in lower case, of encrypted fields that no signature covers, because they are in front of the signed content.
    let unsignedNames: Set<String>
    /// Whether fields come from a header around the innermost entity; see `init(_:inside:)`.
    private let isAround: Bool

    /// Reads the header of a protected entity; nil if the header does not say that it contains the message's fields.
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
        (unsignedNames, isAround) = ([], false)
        records = Set(entity.all(HeaderProtection.recordName).compactMap { NormalizedField(record: $0) })
    }

    /// The header of the message in `wrapper`, a protected entity; nil if that message was only forwarded.
    ///
    /// The message was wrapped to protect its header if the wrapper says `forwarded=no`. If the wrapper does not have this
    /// parameter, the outer header must have the same author, and the same Message-ID or Date, as the wrapped message.
    package init?(wrapped message: HeaderBlock, in wrapper: HeaderBlock, outer: HeaderBlock) {
        guard let type = wrapper.first("Content-Type").flatMap({ ContentType(field: $0) }), type.isMessage else {
            return nil
        }
        let stated = type.parameters["forwarded"]?.lowercased()
        guard stated == "no" || stated == nil && Self.isSameMessage(message, as: outer) else { return nil }
        scheme = .wrapped
        header = message
        (unsignedNames, isAround) = ([], false)
        records = []
    }

    /// Which protected fields are restored in the header of a decrypted message.
    package enum Extent: Sendable {
        /// All fields of the message.
        case all
        /// Only the fields that a gateway may restore from an encrypted header: Subject, Comments, Keywords, From, To, Cc,
        /// Reply-To, Date, Message-ID, References and In-Reply-To. Of the content fields, only the MIME fields. Each field is
        /// restored once; only Comments and Keywords may be repeated.
        case gateway

        func includes(_ name: String) -> Bool { self == .all || HeaderFieldKind.gatewayNames.contains(name) }

        /// Whether the restored header includes the content field `name`, in lower case.
        func includesContent(_ name: String) -> Bool {
            self == .all || HeaderFieldKind.gatewayContentNames.contains(name)
        }

        /// For `gateway`, the first of `fields` with each name, and all fields whose name may be repeated; for `all`, `fields`.
        func once(_ fields: [HeaderField]) -> [HeaderField] {
            guard self == .gateway else { return fields }
            var seen = Set<String>()
            return fields.filter { field in
                let name = field.name.lowercased()
                return seen.insert(name).inserted || HeaderFieldKind.repeatedNames.contains(name)
            }
        }
    }

    private init(_ scheme: Scheme, _ header: HeaderBlock, records: Set<NormalizedField>) {
        self.scheme = scheme
        self.header = header
        self.records = records
        (unsignedNames, isAround) = ([], false)
    }

    /// The fields of a message that was already signed when its fields were hidden. `layer` is the header of the signed message
    /// inside the encryption; `own` is the header inside the signature, or nil if that has no fields.
    ///
    /// The signed fields have precedence. If they are not all fields of the message, `layer` adds the others. If they are,
    /// `layer` adds only fields that are left out of the outer header, because they exist nowhere else.
    ///
    /// - Throws: `MIMEError.limitExceeded` if the header becomes too long.
    init(_ own: ProtectedHeader?, inside layer: ProtectedHeader) throws(MIMEError) {
        let names = Set(own?.fields.map { $0.name.lowercased() } ?? [])
        let isComplete = own?.scheme.isComplete == true
        let others = layer.fields.filter { field in
            !names.contains(field.name.lowercased())
                && (!isComplete || HeaderConfidentiality.removedNames.contains(field.name.lowercased()))
        }
        if let own {
            header = try others.isEmpty ? own.header : own.header.asMessage(with: others, layer.header.lineEnd)
        } else {
            header = layer.header
        }
        scheme = layer.scheme
        records = layer.records
        unsignedNames = Set(others.map { $0.name.lowercased() })
        isAround = own == nil || !others.isEmpty
    }

    /// The same protected fields with `header` as the entity's header.
    ///
    /// - Throws: `MIMEError.limitExceeded` if the header becomes too long.
    package func with(header: HeaderBlock) throws(MIMEError) -> ProtectedHeader {
        guard isAround else { return ProtectedHeader(scheme, header, records: records) }
        let end = header.lineEnd
        var bytes = fields.flatMap { $0.terminatedBytes(self.header.lineEnd).withLines(endingIn: end) }
        if header.first("MIME-Version") == nil { bytes += NewField("MIME-Version", value: "1.0").bytes(lineEnd: end) }
        bytes += header.fields.filter(\.isStructural).flatMap { $0.terminatedBytes(end) }
        return ProtectedHeader(scheme, try HeaderBlock(parsing: bytes + end.bytes), records: records)
    }

    /// Only the fields that are hidden outside. `inner` is the header of an entity whose signature stays in the message, so
    /// the recipient can compare all other outer fields.
    ///
    /// - Throws: `MIMEError.limitExceeded` if the header becomes too long.
    package func hiddenFields(outer: HeaderBlock, above inner: HeaderBlock) throws(MIMEError) -> ProtectedHeader {
        let hidden = Set(hiddenNames(outer: outer))
        let fields = fields.filter { hidden.contains($0.name.lowercased()) }
        // No signature covers the other fields of `inner`.
        let structure = inner.fields.filter(\.isStructural).flatMap { $0.terminatedBytes(inner.lineEnd) }
        let bare = try HeaderBlock(parsing: structure + inner.lineEnd.bytes)
        return ProtectedHeader(.draft, try bare.asMessage(with: fields, header.lineEnd), records: [])
    }

    /// The fields of the message, in order.
    package var fields: [HeaderField] { header.fields.filter { HeaderFieldKind($0) == .message } }

    /// The addresses in the fields called `name`; nil if there is no such field.
    package func addresses(_ name: String) -> Set<EmailAddress>? {
        header.first(name) == nil ? nil : header.readableAddresses(name)
    }

    /// Whether no field is hidden, and `outer` contains exactly the protected fields of the message, in the same order and
    /// with the same bytes.
    func isCopied(in outer: HeaderBlock) -> Bool {
        guard scheme == .clear else { return false }
        let others = outer.fields.lazy.filter { HeaderFieldKind($0) == .message }
        return fields.elementsEqual(others) { $0.rawBytes == $1.rawBytes }
    }

    /// The names, in lower case, of the fields that are completely or partly hidden outside: those that have a value inside
    /// which `outer` lacks. If there are HP-Outer records, the sender must have hidden the field, too.
    package func hiddenNames(outer: HeaderBlock) -> [String] {
        guard scheme != .clear else { return [] }
        let missing = names(missingIn: Self.normalizedFields(of: outer))
        guard scheme == .cipher else { return missing }
        let removed = Set(names(missingIn: records))
        return missing.filter(removed.contains)
    }

    /// The names, in lower case, of the fields whose outer value is neither the value that the sender recorded nor the inner
    /// value. (A decrypting gateway copies the inner value to the outer header.) A field that is missing outside is
    /// included, unless the scheme is `cipher` and the sender recorded no outer value for it.
    package func differingNames(outer: HeaderBlock) -> [String] {
        let normalizedFields = Self.normalizedFields(of: outer)
        guard scheme == .cipher else { return names(missingIn: normalizedFields) }
        let recorded = Dictionary(grouping: records, by: \.name)
        let shown = Set(normalizedFields.map(\.name))
        let missingOutside = Set(names(missingIn: normalizedFields))
        return names { name in
            guard missingOutside.contains(name) else { return false }
            guard let recorded = recorded[name] else { return shown.contains(name) }
            return !normalizedFields.isSuperset(of: recorded)
        }
    }

    /// The names, in lower case, of fields that exist only outside, or that have an additional value outside.
    ///
    /// Fields of the kind `HeaderFieldKind.transport`, such as Received, are ignored.
    package func addedNames(outer: HeaderBlock) -> [String] {
        func byName(_ normalizedFields: Set<NormalizedField>) -> [String: Set<NormalizedField>] {
            Dictionary(grouping: normalizedFields, by: \.name).mapValues { Set($0) }
        }
        let inner = byName(Set(fields.map { NormalizedField($0) }))
        let recorded = scheme == .cipher ? byName(records) : [:]
        let normalizedFields = byName(Self.normalizedFields(of: outer))
        var seen: Set<String> = []
        return outer.fields.filter { HeaderFieldKind($0) == .message }.map { $0.name.lowercased() }.filter { name in
            guard seen.insert(name).inserted else { return false }
            let (own, copied) = (inner[name] ?? [], recorded[name] ?? [])
            let permitted = own.union(copied)
            guard !permitted.isEmpty, let found = normalizedFields[name] else { return permitted.isEmpty }
            // If no outer value is permitted, the field is reported as changed, not as added. The outer values may be the
            // recorded ones or the inner ones, but not a mixture.
            return !found.isDisjoint(with: permitted) && !found.isSubset(of: own) && !found.isSubset(of: copied)
        }
    }

    /// Whether mail programs display fields of this name, which is in lower case, or act upon them.
    package static func isUserFacing(_ name: String) -> Bool { HeaderFieldKind.userFacingNames.contains(name) }

    /// Whether mail servers add a field of this name, which is in lower case, if the author omitted it (RFC 6409 §8.2, §8.3).
    package static func isServerAdded(_ name: String) -> Bool { HeaderFieldKind.serverAddedNames.contains(name) }

    /// The names, in lower case, for which `isMeant` is true, each name once.
    private func names(where isMeant: (String) -> Bool) -> [String] {
        var seen: Set<String> = []
        return fields.map { $0.name.lowercased() }.filter { seen.insert($0).inserted && isMeant($0) }
    }

    /// The names of the fields that have a value missing in `normalizedFields`.
    private func names(missingIn normalizedFields: Set<NormalizedField>) -> [String] {
        let missing = Set(fields.map { NormalizedField($0) }.filter { !normalizedFields.contains($0) }.map(\.name))
        return names(where: missing.contains)
    }

    private static func normalizedFields(of header: HeaderBlock) -> Set<NormalizedField> {
        Set(header.fields.map { NormalizedField($0) })
    }

    private static func isSameMessage(_ message: HeaderBlock, as outer: HeaderBlock) -> Bool {
        guard let author = author(message), !author.isEmpty, author == Self.author(outer) else { return false }
        return ["Message-ID", "Date"].contains { name in
            guard let inner = message.first(name), let outer = outer.first(name) else { return false }
            return NormalizedField(inner) == NormalizedField(outer)
        }
    }

    private static func author(_ header: HeaderBlock) -> [EmailAddress]? {
        header.first("From").flatMap { try? AddressList(field: $0) }?.addresses
    }
}

/// A field whose value is unfolded and decoded, with one space for each run of blanks.
private struct NormalizedField: Hashable {
    /// The field's name in lower case.
    let name: String
    /// The text, or for a list of addresses the name and the address of each mailbox.
    private let value: [String]

    init(_ field: HeaderField) { self.init(called: field.name.lowercased(), field) }

    /// Reads the name and value that an HP-Outer field records for an outer field; nil if the record cannot be parsed.
    init?(record: HeaderField) {
        let text = record.value
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].trimmingPrefix { $0 == " " }.lowercased()
        guard let field = Array("X: \(text[text.index(after: colon)...])\r\n".utf8).field else { return nil }
        self.init(called: name, field)
    }

    private init(called name: String, _ field: HeaderField) {
        self.name = name
        let shown = Self.plain(field.displayValue)
        guard HeaderFieldKind.addressNames.contains(name) else {
            value = [shown]
            return
        }
        // Different lists of addresses may be displayed alike, and mail servers write the same list in different ways.
        guard let list = try? AddressList(field: field), list.defects.isEmpty, !list.mailboxes.isEmpty else {
            value = ["malformed", shown]
            return
        }
        value = list.mailboxes.flatMap { [Self.plain($0.displayName ?? ""), $0.address.key] }
    }

    private static func plain(_ text: String) -> String {
        // Most fields are ASCII and need no Unicode tables.
        guard !text.utf8.allSatisfy({ $0 < 128 }) else {
            return text.utf8.split { $0 == 0x20 || 0x09...0x0D ~= $0 }.map { String(Substring($0)) }.joined(
                separator: " "
            )
        }
        return text.unicodeScalars.split { $0.properties.isWhitespace }.map { String($0) }.joined(separator: " ")
    }
}
