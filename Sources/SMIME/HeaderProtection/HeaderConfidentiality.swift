import InternetMessage

/// Which header fields of an encrypted message are hidden during transport, and what replaces them.
///
/// A Header Confidentiality Policy. Readers who can decrypt the message see the hidden fields again.
///
/// RFC 9788 §3
public enum HeaderConfidentiality: String, CaseIterable, Hashable, Sendable {
    /// The subject becomes `[...]`; comments and keywords are removed (RFC 9788 §3.2.1), and the copy of the subject that
    /// Outlook keeps.
    case baseline
    /// Nothing is hidden (RFC 9788 §3.2.3).
    case none
    /// As `baseline`; moreover the names in From, To and Cc are removed, and the time zone of Date (RFC 9788 §3.2.2).
    case shy

    /// The outer field for `field`: its own bytes if nothing in it is hidden, nil if it is removed.
    ///
    /// An address is never changed (RFC 9788 §3.1.1). A field that cannot be read stays as it is.
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

    /// The addresses without names; nil if the field is no plain list of mailboxes, or has more that would be lost.
    private static func bareAddresses(_ field: HeaderField) -> String? {
        guard let list = try? AddressList(field: field), list.defects.isEmpty, !list.mailboxes.isEmpty else {
            return nil
        }
        return list.mailboxes.map(\.address.text).joined(separator: ", ")
    }
}
