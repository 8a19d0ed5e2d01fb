package import InternetMessage
import PKIX

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
