public import CMS
public import Foundation

/// What is known for one address or domain, judged.
public struct RecipientChoice: Sendable {
    public let address: AddressScope
    /// Every certificate known for it, those that go first in front, with the reason why it is used or not.
    public let candidates: [(recipient: KnownRecipient, reason: RecipientSelection.Reason)]

    /// The one that is used; nil if none can be.
    public var selected: KnownRecipient? { candidates.first { $0.reason.isSelected }?.recipient }

    /// Why none can be used, in words.
    public var whyNone: String {
        candidates.isEmpty ? "none is known" : candidates.map(\.reason.description).joined(separator: "; ")
    }

    /// Judges `recipients`, all of `address` or of its domain, with the anchors and lists in `trust`.
    ///
    /// - Parameter extra: certificates of authorities that came with them; not trusted.
    public init(
        address: AddressScope,
        recipients: [KnownRecipient],
        trust: TrustStore,
        extra: [Certificate] = [],
        at time: Date
    ) {
        self.address = address
        let chains = recipients.map { recipient in
            guard recipient.trust != .distrusted else { return RecipientSelection.Chain(isTrusted: false) }
            let verdict = trust.judge(recipient.certificate, extra: extra, purpose: .encryption, at: time)
            return RecipientSelection.Chain(
                isTrusted: verdict.isTrustedNow,
                isRevoked: verdict.revocation?.status == .revoked,
                isRevocationMissing: verdict.revocation?.status == .unknown && trust.terms.revocation == .hard
            )
        }
        let reasons = RecipientSelection.judge(recipients, chains: chains, at: time)
        candidates = zip(recipients, reasons).map { recipient, reason in
            let isForDomain = reason == .selected && recipient.address.isDomain && !address.isDomain
            return (recipient, isForDomain ? .selectedForDomain : reason)
        }
    }
}
