import InternetMessage
import PKIX

/// The protected header fields of a message, compared with the outer ones.
///
/// RFC 9788 §4.3
public struct HeaderReport: Sendable {
    /// How the sender protected the fields.
    public let scheme: ProtectedHeader.Scheme
    /// The values of the protected fields for display; the key is the name in lower case. If a field is repeated, each value
    /// is a line.
    public let values: [String: String]
    /// The names of the fields that are signed and unchanged since. The report's status says whether the signer is trusted.
    public let signed: [String]
    /// The names of the fields that are encrypted and completely or partly hidden in the outer header.
    public let hidden: [String]
    /// The names of the fields whose outer value differs from the value that the author wrote.
    public let differing: [String]
    /// The names of the fields that exist only in the outer header, or have an additional value there.
    public let added: [String]
    /// The outer values of the fields that differ or were added, in the form of `values`.
    public let outside: [String: String]
    /// Whether the outer From names a different author than the hidden inner From.
    private let hidesAuthor: Bool

    init(_ protected: ProtectedHeader, outer: HeaderBlock, isSigned: Bool, isEncrypted: Bool) {
        scheme = protected.scheme
        let values = Self.values(protected.fields)
        self.values = values
        signed = isSigned ? values.keys.filter { !protected.unsignedNames.contains($0) }.sorted() : []
        // This is the usual case: most signed mail is not changed in transit.
        guard !protected.isCopied(in: outer) else {
            (hidden, differing, added, outside, hidesAuthor) = ([], [], [], [:], false)
            return
        }
        let hidden = isEncrypted ? protected.hiddenNames(outer: outer).sorted() : []
        self.hidden = hidden
        let differing = protected.differingNames(outer: outer).sorted()
        // Without HP-Outer records a hidden field cannot be distinguished from a changed field.
        self.differing = protected.scheme == .cipher ? differing : differing.filter { !hidden.contains($0) }
        added = protected.addedNames(outer: outer).sorted()
        let author = outer.readableAddresses("From")
        hidesAuthor = hidden.contains("from") && protected.addresses("From").map { $0 != author } == true
        let reported = Set(self.differing + added)
        outside = Self.values(outer.fields.filter { reported.contains($0.name.lowercased()) })
    }

    private static func values(_ fields: some Sequence<HeaderField>) -> [String: String] {
        Dictionary(grouping: fields) { $0.name.lowercased() }
            .mapValues { $0.map(\.displayValue).joined(separator: "\n") }
    }

    /// The problems to report.
    var problems: [Problem] {
        var problems: [Problem] = []
        if !differing.isEmpty {
            let protected = signed.isEmpty ? "the protected fields" : "the fields that the author signed"
            let text = "these outer header fields differ from \(protected)"
            problems.append(Problem(.headerDiffers, "\(text): \(differing.listedForDisplay)"))
        }
        if hidesAuthor {
            let inside = values["from"] ?? ""
            let text = "the outer From is not the protected From, \(inside.escapedForDisplay)"
            problems.append(Problem(.headerDiffers, text))
        }
        // Mail servers add Date and Message-ID if the author omitted them, so these two cause no warning if the protected
        // header has none.
        let visible = added.filter { ProtectedHeader.isUserFacing($0) }
        let doubled = visible.filter { values[$0] != nil }
        let shown = visible.filter { values[$0] == nil && !ProtectedHeader.isServerAdded($0) }
        var texts: [String] = []
        if scheme.isComplete, !shown.isEmpty {
            texts.append(
                "these outer header fields are not protected, so anyone could have added them: \(shown.listedForDisplay)"
            )
        }
        if !doubled.isEmpty {
            let names = doubled.listedForDisplay
            texts.append(
                "these header fields have an additional value outside the protection, and programs differ on which one they show: \(names)"
            )
        }
        if !texts.isEmpty { problems.append(Problem(.headerUnprotected, texts.joined(separator: "; "))) }
        return problems
    }
}

extension ProtectedHeader {
    /// The message's header fields inside `payload`, which is the innermost entity of the message with the header `outer`;
    /// nil if there are none.
    init?(in payload: LocatedEntity, outer: HeaderBlock) {
        if let own = ProtectedHeader(of: payload.entity.header) {
            self = own
            return
        }
        guard let message = try? payload.entity.embeddedMessage(in: payload.source) else { return nil }
        self.init(wrapped: message.header, in: payload.entity.header, outer: outer)
    }
}
