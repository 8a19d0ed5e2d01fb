import CMS
import MIME

/// What a header says in its From fields: who that is, and why other programs may read somebody else.
///
/// RFC 5322 §3.6.2
struct AuthorReading {
    /// Every mailbox that the first field holds, whatever else is wrong with it.
    let mailboxes: [Mailbox]
    /// Why that is not exactly one mailbox that all programs read alike; each an error.
    let problems: [Problem]

    /// - Parameter place: where the header stands, for the texts: empty, or ` inside the signature`.
    init(_ header: HeaderBlock, place: String = "") {
        let fields = header.all("From")
        var problems: [Problem] = []
        if fields.count > 1 { problems.append(Problem(.fromDoubled, "there is more than one From field\(place)")) }
        let list = fields.first.flatMap { try? AddressList(field: $0) }
        let mailboxes = list?.mailboxes ?? []
        self.mailboxes = mailboxes
        let found = fields.first.flatMap { Mailbox(soleIn: $0) }
        let defects = list?.defects ?? [.malformed]
        if fields.isEmpty || mailboxes.isEmpty {
            problems.append(Problem(.fromMissing, "From\(place) is missing or holds no address"))
        }
        if !fields.isEmpty, defects.contains(.malformed) {
            problems.append(Problem(.fromMalformed, "From\(place) holds something that is no address"))
        }
        if defects.contains(.group) { problems.append(Problem(.fromGroup, "From\(place) is written as a group")) }
        if defects.contains(.route) { problems.append(Problem(.fromRoute, "From\(place) holds a source route")) }
        if mailboxes.count > 1 { problems.append(Problem(.fromSeveral, "From\(place) holds several mailboxes")) }
        if ([found].compactMap(\.self) + mailboxes).contains(where: \.displayNamePosesAsAddress) {
            problems.append(Problem(.fromDisplayName, "a display name in From\(place) shows another address"))
        }
        if problems.isEmpty, [found?.address] != mailboxes.map(\.address) {
            let text = "From\(place) is written so that other programs may read another address"
            problems.append(Problem(.fromMalformed, text))
        }
        if problems.isEmpty, header.fields.prefix(while: { !$0.isNamed("From") }).contains(where: \.holdsBlankLine) {
            let text = "From\(place) stands behind a line of blanks, at which some programs end the header"
            problems.append(Problem(.fromMalformed, text))
        }
        self.problems = problems
    }
}
