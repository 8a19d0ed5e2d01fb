import InternetMessage

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
        case (_, "comments"), (_, "keywords"), (_, "thread-topic"): return nil
        case (.shy, "from"), (.shy, "to"), (.shy, "cc"):
            if let bare = Self.bareAddresses(field) { return NewField(name, value: bare).bytes(lineEnd: lineEnd) }
        case (.shy, "date"):
            if let date = MessageDate(field.value) {
                return NewField(name, value: date.universal).bytes(lineEnd: lineEnd)
            }
        default: break
        }
        return field.closedBytes(lineEnd)
    }

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
