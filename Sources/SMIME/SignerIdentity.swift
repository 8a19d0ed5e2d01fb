import CMS
import MIME

/// Who a message says it is from, as far as a signature can be compared with it.
///
/// RFC 8550 §3
struct SignerIdentity {
    private let from: [Mailbox]
    private let sender: [Mailbox]
    private let problems: [Problem]

    /// Reads From and Sender of a message's header.
    init(_ header: HeaderBlock) {
        var problems: [Problem] = []
        let fields = header.all("From")
        if fields.count > 1 { problems.append(Problem("from-doubled", "there is more than one From field")) }
        let list = fields.first.flatMap { try? AddressList(field: $0) }
        from = list?.mailboxes ?? []
        let senders = header.all("Sender")
        sender = senders.count == 1 ? senders.first.flatMap { try? AddressList(field: $0) }?.mailboxes ?? [] : []
        let defects = list?.defects ?? []
        if fields.isEmpty || from.isEmpty {
            problems.append(Problem("from-missing", "From is missing or holds no address"))
        }
        if defects.contains(.malformed) {
            problems.append(Problem("from-malformed", "From holds something that is no address"))
        }
        if defects.contains(.group) { problems.append(Problem("from-group", .warning, "From is a group")) }
        if defects.contains(.route) { problems.append(Problem("from-route", .warning, "From holds a source route")) }
        if from.count > 1 { problems.append(Problem("from-several", .warning, "From holds several mailboxes")) }
        if from.contains(where: \.displayNamePosesAsAddress) {
            problems.append(Problem("from-display-name", .warning, "a display name in From shows another address"))
        }
        self.problems = problems
    }

    /// The first address of From that `certificate` names.
    func author(named certificate: Certificate) -> EmailAddress? {
        let addresses = Set(certificate.addresses.compactMap { try? EmailAddress($0) })
        return from.map(\.address).first(where: addresses.contains)
    }

    /// The identity axis for a signer with `certificate`.
    func judge(_ certificate: Certificate) -> VerificationReport.Axis {
        var problems = problems
        let addresses = Set(certificate.addresses.compactMap { try? EmailAddress($0) })
        if certificate.hasMalformedAddress {
            problems.append(Problem("certificate-address-malformed", "an address in the certificate is not one"))
        }
        if addresses.isEmpty {
            problems.append(Problem("certificate-no-address", "the certificate names no address"))
        } else if !from.isEmpty, !from.contains(where: { addresses.contains($0.address) }) {
            let named = addresses.map(\.text.escapedForDisplay).sorted().joined(separator: ", ")
            if sender.contains(where: { addresses.contains($0.address) }) {
                problems.append(Problem("signer-is-sender", .warning, "the signer is the Sender, not From: \(named)"))
            } else {
                problems.append(Problem("signer-not-from", "the certificate is for \(named), not for From"))
            }
        }
        return VerificationReport.Axis(problems)
    }
}
