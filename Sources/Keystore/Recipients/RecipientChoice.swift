public import CMS
public import Foundation

/// What is known for one address or domain, judged.
public struct RecipientChoice: Sendable {
    /// Whom it was asked for.
    public let address: AddressScope
    /// Every certificate known for it, those that go first in front, with the reason why it is used or not.
    public let candidates: [(recipient: KnownRecipient, reason: RecipientSelection.Reason)]

    /// The chain of each candidate; nil for what was distrusted by hand.
    let verdicts: [ChainVerdict?]

    /// The one that is used; nil if none can be.
    public var selected: KnownRecipient? { candidates.first { $0.reason.isSelected }?.recipient }

    /// The chains of what is used, or would be if it was known that it was not revoked.
    var wantedChains: [ChainVerdict] {
        zip(candidates, verdicts).compactMap { candidate, verdict in
            candidate.reason.isSelected || candidate.reason == .revocationUnknown ? verdict : nil
        }
    }

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
        // What was said of a certificate for another address counts there alone.
        var trust = trust
        trust.pinned = Set(recipients.filter { $0.trust == .pinned }.map(\.certificate.fingerprint))
        trust.distrusted = []
        verdicts = recipients.map { recipient in
            guard recipient.trust != .distrusted else { return nil }
            return trust.judge(recipient.certificate, extra: extra, purpose: .encryption, at: time)
        }
        let chains = verdicts.map { verdict in
            guard let verdict else { return RecipientSelection.Chain(isTrusted: false) }
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
