import InternetMessage
import PKIX

/// The protected header fields of a message, compared with the outer ones.
///
/// RFC 9788 §4.3
public struct HeaderReport: Sendable {
    /// How the fields came inside.
    public let scheme: ProtectedHeader.Scheme
    /// The values of the fields for display, by their names in lower case; repeated fields on one line each.
    public let values: [String: String]
    /// The fields that are signed, and are what was signed.
    public let signed: [String]
    /// The fields of which something is hidden outside: it is encrypted.
    public let hidden: [String]
    /// The fields whose outer value differs from the one that their author wrote.
    public let differing: [String]
    /// The fields that are only outside.
    public let added: [String]
    /// The outer values of fields that differ or were added, as in `values`.
    public let outside: [String: String]
    /// Whether the author inside was hidden behind another one outside.
    private let hidesAuthor: Bool

    init(_ protected: ProtectedHeader, outer: HeaderBlock, isSigned: Bool, isEncrypted: Bool) {
        scheme = protected.scheme
        let values = Self.values(protected.fields)
        self.values = values
        signed = isSigned ? values.keys.sorted() : []
        // Nearly all mail that arrives as it was signed.
        guard !protected.isCopied(in: outer) else {
            (hidden, differing, added, outside, hidesAuthor) = ([], [], [], [:], false)
            return
        }
        let hidden = isEncrypted ? protected.hiddenNames(outer: outer).sorted() : []
        self.hidden = hidden
        let differing = protected.differingNames(outer: outer).sorted()
        // Without HP-Outer records a hidden field cannot be told from a changed one.
        self.differing = protected.scheme == .cipher ? differing : differing.filter { !hidden.contains($0) }
        added = protected.addedNames(outer: outer).sorted()
        let author = outer.readableAddresses("From")
        hidesAuthor = hidden.contains("from") && protected.addresses("From").map { $0 != author } == true
        let told = Set(self.differing + added)
        outside = Self.values(outer.fields.filter { told.contains($0.name.lowercased()) })
    }

    private static func values(_ fields: some Sequence<HeaderField>) -> [String: String] {
        Dictionary(grouping: fields) { $0.name.lowercased() }
            .mapValues { $0.map(\.displayValue).joined(separator: "\n") }
    }

    /// The problems to report.
    var problems: [Problem] {
        var problems: [Problem] = []
        if !differing.isEmpty {
            let text = "outside the protection these fields differ from what the author wrote"
            problems.append(Problem(.headerDiffers, "\(text): \(differing.listedForDisplay)"))
        }
        if hidesAuthor {
            let inside = values["from"] ?? ""
            let text = "another From is outside: inside it is \(inside.escapedForDisplay)"
            problems.append(Problem(.headerDiffers, text))
        }
        // Mail servers add Date and Message-ID if the author left them out: this is no reservation.
        let shown = added.filter { ProtectedHeader.isShown($0) && !ProtectedHeader.isCompleted($0) }
        if scheme.isComplete, !shown.isEmpty {
            let text = "not protected, so that anyone can have added them: \(shown.listedForDisplay)"
            problems.append(Problem(.headerUnprotected, text))
        }
        return problems
    }
}

extension ProtectedHeader {
    /// The message's header fields inside `payload`, the innermost entity of the message with the header `outer`.
    init?(in payload: LocatedEntity, outer: HeaderBlock) {
        if let own = ProtectedHeader(of: payload.entity.header) {
            self = own
            return
        }
        guard let message = try? payload.entity.embeddedMessage(in: payload.source) else { return nil }
        self.init(wrapped: message.header, in: payload.entity.header, outer: outer)
    }
}
