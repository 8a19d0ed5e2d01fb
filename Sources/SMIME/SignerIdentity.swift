import CMS
import MIME

/// Who a message says it is from, as far as a signature can be compared with it.
///
/// RFC 8550 §3
struct SignerIdentity {
    private let from: [Mailbox]
    private let sender: [Mailbox]
    private let problems: [Problem]
    /// The header fields inside the signature, if there are any.
    private let protected: ProtectedHeader?

    /// Reads From and Sender of a message's header.
    ///
    /// - Parameter protected: the header fields inside the signature. They must name the signer, too: whoever wraps the
    ///   mail of somebody else must not pass for its author (RFC 9788 §4.4).
    init(_ header: HeaderBlock, protected: ProtectedHeader? = nil) {
        self.protected = protected
        var problems: [Problem] = []
        if (protected?.header.all("From").count ?? 0) > 1 {
            problems.append(Problem(.fromDoubled, "there is more than one From field inside the signature"))
        }
        let fields = header.all("From")
        if fields.count > 1 { problems.append(Problem(.fromDoubled, "there is more than one From field")) }
        let list = fields.first.flatMap { try? AddressList(field: $0) }
        from = list?.mailboxes ?? []
        let senders = header.all("Sender")
        // RFC 5322 §3.6.2: one mailbox. In a list or a group anybody could stand beside the one who is shown.
        sender =
            (senders.count == 1 ? senders.first : nil).flatMap { try? AddressList(field: $0) }
            .flatMap { $0.defects.isEmpty && $0.mailboxes.count == 1 ? $0.mailboxes : nil } ?? []
        let defects = list?.defects ?? []
        if fields.isEmpty || from.isEmpty {
            problems.append(Problem(.fromMissing, "From is missing or holds no address"))
        }
        if defects.contains(.malformed) {
            problems.append(Problem(.fromMalformed, "From holds something that is no address"))
        }
        if defects.contains(.group) { problems.append(Problem(.fromGroup, "From is a group")) }
        if defects.contains(.route) { problems.append(Problem(.fromRoute, "From holds a source route")) }
        if from.count > 1 { problems.append(Problem(.fromSeveral, "From holds several mailboxes")) }
        if from.contains(where: \.displayNamePosesAsAddress) {
            problems.append(Problem(.fromDisplayName, "a display name in From shows another address"))
        }
        self.problems = problems
    }

    /// The first address of From that `certificate` names.
    func author(named certificate: Certificate) -> EmailAddress? {
        let addresses = certificate.mailAddresses
        return from.map(\.address).first(where: addresses.contains)
    }

    /// Whom a reader takes a signer with `certificate` for: the addresses of From, or else Sender, that it names, each with
    /// its whole domain, as a store keys them.
    func scopes(of certificate: Certificate) -> Set<String> {
        let addresses = certificate.mailAddresses
        let authors = [from, sender].lazy.map { $0.map(\.address).filter(addresses.contains) }.first { !$0.isEmpty }
        return Set((authors ?? []).flatMap { [$0.key, "@\($0.asciiDomain)"] })
    }

    /// The identity axis for a signer with `certificate`.
    func judge(_ certificate: Certificate) -> VerificationReport.Axis {
        var problems = problems
        let addresses = certificate.mailAddresses
        if certificate.hasMalformedAddress {
            problems.append(Problem(.certificateAddressMalformed, "an address in the certificate is not one"))
        } else if certificate.subject.holdsControlCharacters {
            let text = "the name in the certificate holds line breaks or other control characters"
            problems.append(Problem(.certificateAddressMalformed, text))
        }
        if addresses.isEmpty {
            problems.append(Problem(.certificateNoAddress, "the certificate names no address"))
        } else if !from.isEmpty, !from.contains(where: { addresses.contains($0.address) }) {
            let named = Self.list(addresses)
            if sender.contains(where: { addresses.contains($0.address) }) {
                problems.append(Problem(.signerIsSender, "the signer is the Sender, not From: \(named)"))
            } else if let own = protected?.addresses("From"), !own.isDisjoint(with: addresses) {
                let outside = from.map(\.address.text).listedForDisplay
                problems.append(
                    Problem(.signerNotFrom, "From is \(Self.list(own)), as it was signed; outside it is \(outside)")
                )
            } else {
                problems.append(Problem(.signerNotFrom, "the certificate is for \(named), not for From"))
            }
        }
        if let problem = Self.contradiction(of: protected, to: certificate) {
            problems.append(problem)
        } else if let own = protected?.addresses("From"), !own.isEmpty, !addresses.isEmpty,
            own.isDisjoint(with: addresses)
        {
            problems.append(Problem(.signerIsSender, "the signer is the Sender inside, not From: \(Self.list(own))"))
        }
        return VerificationReport.Axis(problems)
    }

    /// What is wrong if `certificate` signed fields that say that somebody else did; nil if they do not.
    static func contradiction(of protected: ProtectedHeader?, to certificate: Certificate) -> Problem? {
        guard let from = protected?.addresses("From") else { return nil }
        let addresses = certificate.mailAddresses
        guard !addresses.isEmpty, addresses.isDisjoint(with: from.union(protected?.addresses("Sender") ?? [])) else {
            return nil
        }
        return Problem(.protectedFromMismatch, "the From inside the signature is not the signer: \(list(from))")
    }

    private static func list(_ addresses: Set<EmailAddress>) -> String {
        addresses.map(\.text).sorted().listedForDisplay
    }
}

extension Certificate {
    /// The addresses it names, as far as they are any.
    var mailAddresses: Set<EmailAddress> { Set(addresses.compactMap { try? EmailAddress($0) }) }
}
