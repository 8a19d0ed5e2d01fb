package import InternetMessage
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
    /// The names of the fields that are signed and unchanged since. Whether the signer is trusted is the report's status.
    public let signed: [String]
    /// The names of the fields that are encrypted and completely or partly hidden in the outer header.
    public let hidden: [String]
    /// The names of the fields whose outer value differs from the value that the author wrote.
    public let differing: [String]
    /// The names of the fields that exist only in the outer header.
    public let added: [String]
    /// The outer values of the fields that differ or were added, in the form of `values`.
    public let outside: [String: String]
    /// Whether the outer From names a different author than the hidden inner From.
    private let hidesAuthor: Bool

    init(_ protected: ProtectedHeader, outer: HeaderBlock, isSigned: Bool, isEncrypted: Bool) {
        scheme = protected.scheme
        let values = Self.values(protected.fields)
        self.values = values
        signed = isSigned ? values.keys.sorted() : []
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
            let protected = signed.isEmpty ? "the protected fields" : "the fields that the author signed"
            let text = "these outer header fields differ from \(protected)"
            problems.append(Problem(.headerDiffers, "\(text): \(differing.listedForDisplay)"))
        }
        if hidesAuthor {
            let inside = values["from"] ?? ""
            let text = "the outer From is not the protected From, \(inside.escapedForDisplay)"
            problems.append(Problem(.headerDiffers, text))
        }
        // Mail servers add Date and Message-ID if the author omitted them, so these two fields cause no warning.
        let visible = added.filter { ProtectedHeader.isShown($0) }
        let doubled = visible.filter { values[$0] != nil }
        let shown = visible.filter { values[$0] == nil && !ProtectedHeader.isCompleted($0) }
        var texts: [String] = []
        if scheme.isComplete, !shown.isEmpty {
            texts.append("not protected, so anyone could have added them: \(shown.listedForDisplay)")
        }
        if !doubled.isEmpty {
            let names = doubled.listedForDisplay
            texts.append("doubled outside the protection, and programs differ on which one they show: \(names)")
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

/// The author in a header's From fields, and the reasons why other programs may find a different author.
///
/// RFC 5322 §3.6.2
package struct AuthorReading: Sendable {
    /// All mailboxes in the first From field, even if there are problems.
    package let mailboxes: [Mailbox]
    /// The reasons why From is not exactly one mailbox that all programs interpret alike; each reason is an error.
    let problems: [Problem]

    /// The only address, which all programs find; nil if there is a problem.
    package var soleAddress: EmailAddress? { problems.isEmpty ? mailboxes.first?.address : nil }
    /// The first problem as a sentence without a full stop; nil if there is none.
    package var firstProblem: String? { problems.first?.text }

    /// Reads From, to compare it with a signer or to choose a signer.
    package init(_ header: HeaderBlock) { self.init(header, place: "") }

    /// The result for a From that contains exactly `addresses`.
    package init(listing addresses: [EmailAddress]) {
        mailboxes = addresses.map { Mailbox(displayName: nil, address: $0) }
        problems =
            switch addresses.count {
            case 0: [Problem(.fromMissing, Self.missing())]
            case 1: []
            default: [Problem(.fromSeveral, Self.several())]
            }
    }

    /// Whether `other` has the same From fields as `header`, the header that was read here, so that reading `other` gives the
    /// same result. False if there are problems, because their texts name the place of the header.
    func isSame(in other: HeaderBlock, as header: HeaderBlock) -> Bool {
        problems.isEmpty && other.all("From").elementsEqual(header.all("From")) { $0.rawBytes == $1.rawBytes }
            && !Self.hidesFromBehindBlankLine(other)
    }

    /// Whether a program that ends the header at a line of blanks finds another author instead of From. Some mail servers
    /// write such lines into reports about spam, and most programs read on.
    private static func hidesFromBehindBlankLine(_ header: HeaderBlock) -> Bool {
        let above = header.fields.prefix { !$0.isNamed("From") }
        guard let last = above.lastIndex(where: \.holdsBlankLine) else { return false }
        return !header.leadingBytes.isEmpty
            || above[...last].contains { field in authorNames.contains { field.isNamed($0) } }
    }

    /// The fields from which programs take the author of mail without From.
    private static let authorNames = ["Sender", "Reply-To", "Resent-From", "Resent-Sender", "Apparently-From"]

    private static func missing(_ place: String = "") -> String { "From\(place) is missing or holds no address" }

    private static func several(_ place: String = "") -> String { "From\(place) holds several mailboxes" }

    /// - Parameter place: the place of the header, for the texts of problems: empty, or ` inside the signature`.
    init(_ header: HeaderBlock, place: String) {
        let fields = header.all("From")
        var problems: [Problem] = []
        if fields.count > 1 { problems.append(Problem(.fromDoubled, "there is more than one From field\(place)")) }
        let list = fields.first.flatMap { try? AddressList(field: $0) }
        let mailboxes = list?.mailboxes ?? []
        self.mailboxes = mailboxes
        let found = fields.first.flatMap { Mailbox(soleIn: $0) }
        let defects = list?.defects ?? [.malformed]
        if fields.isEmpty || mailboxes.isEmpty {
            problems.append(Problem(.fromMissing, Self.missing(place)))
        }
        if !fields.isEmpty, defects.contains(.malformed) {
            problems.append(Problem(.fromMalformed, "From\(place) contains text that is not an address"))
        }
        if defects.contains(.group) { problems.append(Problem(.fromGroup, "From\(place) is written as a group")) }
        if defects.contains(.route) { problems.append(Problem(.fromRoute, "From\(place) holds a source route")) }
        if mailboxes.count > 1 { problems.append(Problem(.fromSeveral, Self.several(place))) }
        if ([found].compactMap(\.self) + mailboxes).contains(where: \.displayNamePosesAsAddress) {
            problems.append(Problem(.fromDisplayName, "a display name in From\(place) shows another address"))
        }
        let isClear = problems.allSatisfy { $0.kind == .fromDisplayName }
        if isClear, [found?.address] != mailboxes.map(\.address) {
            let text = "From\(place) is written so that other programs may read another address"
            problems.append(Problem(.fromMalformed, text))
        }
        if isClear, Self.hidesFromBehindBlankLine(header) {
            let text =
                "From\(place) follows a line that contains only blanks, where some programs end the header and show another author"
            problems.append(Problem(.fromMalformed, text))
        }
        self.problems = problems
    }
}
