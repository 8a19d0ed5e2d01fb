package import Foundation
package import PKIX

/// The certificates of one address or domain, judged.
package struct RecipientChoice: Sendable {
    /// The address that was looked up.
    package let address: AddressScope
    /// Every certificate known for it, the preferred ones first, with the reason why it is used or not.
    package let candidates: [(recipient: KnownRecipient, reason: RecipientSelection.Reason)]

    /// Why sources could not be asked, one sentence each: it is unknown what they have.
    package internal(set) var outages: [String] = []
    /// Whether mail waits for one of those sources even if it need not be encrypted: a folder of ours is missing. Other hosts and
    /// programs that do not answer hold only mail that must be encrypted.
    package internal(set) var isHeldByOutage = false

    /// The chain of each candidate, without all of its problems; nil for what was distrusted by hand, and where a verdict was
    /// kept.
    let chains: [ChainVerdict?]

    /// The one that is used; nil if none can be.
    package var selected: KnownRecipient? { candidates.first { $0.reason.isSelected }?.recipient }

    /// The certificates that an already encrypted message may name for the address: the selected one, and usable ones that are
    /// older, because the sender's program may still use those.
    package var inUse: [Certificate] {
        guard let selected else { return [] }
        return candidates.filter { recipient, reason in
            reason.isSelected
                || reason == .superseded && recipient.address == selected.address && recipient.trust == selected.trust
        }.map(\.recipient.certificate)
    }

    /// The chains of the selected certificates, and of those that are not selected only because their revocation is unknown.
    var wantedChains: [ChainVerdict] {
        zip(candidates, chains).compactMap { candidate, verdict in
            candidate.reason.isSelected || candidate.reason == .revocationUnknown ? verdict : nil
        }
    }

    /// Whether the revocation of such a certificate is unknown while its chain was not read.
    let lacksChains: Bool

    /// Whether a usable certificate may exist: none was found, but a source could not be asked.
    package var isUnknown: Bool { selected == nil && !outages.isEmpty }

    /// Whether there is a certificate that was usable once, will be, or would be if a user trusted it.
    package var hasUnusable: Bool {
        candidates.contains { candidate in
            switch candidate.reason {
            case .expired, .held, .notYetValid, .revocationUnknown, .revoked, .unsupportedKey, .untrusted, .weakKey:
                true
            case .authority, .distrusted, .keyMissing, .laterSource, .notForEncryption, .otherAddress, .ownPreferred,
                .pinnedPreferred, .selected, .selectedForDomain, .superseded:
                false
            }
        }
    }

    /// Why none can be used, in words.
    package var whyNone: String {
        var seen: Set<String> = []
        let reasons = candidates.map { recipient, reason in
            reason == .expired ? "expired on \(recipient.certificate.notAfter.day)" : reason.description
        }
        let texts = (reasons + outages).filter { seen.insert($0).inserted }
        return texts.isEmpty ? "none is known" : texts.joined(separator: "; ")
    }

    /// Judges `recipients`, all of `address` or of its domain, with the anchors and lists in `trust`.
    ///
    /// - Parameter extra: certificates of authorities that came with them; not trusted.
    package init(
        address: AddressScope,
        recipients: [KnownRecipient],
        trust: TrustStore,
        extra: [Certificate] = [],
        at time: Date
    ) {
        let judged = recipients.map { recipient in
            recipient.trust == .distrusted ? nil : Judged(recipient, of: recipients, trust, extra: extra, at: time)
        }
        self.init(address: address, recipients: recipients, judged: judged, under: trust.options, at: time)
    }

    /// A verdict on one of several recipients.
    struct Judged {
        let verdict: RecipientVerdict
        /// The chain that it is about; nil where the verdict was kept.
        let chain: ChainVerdict?
    }

    /// Chooses among `recipients`, all of `address` or of its domain.
    ///
    /// - Parameter judged: the verdict on each of them; nil for what was distrusted by hand.
    init(
        address: AddressScope,
        recipients: [KnownRecipient],
        judged: [Judged?],
        under options: ValidationOptions,
        at time: Date
    ) {
        self.address = address
        chains = judged.map { $0?.chain }
        let candidates = recipients.judged(by: judged.map { $0?.verdict }, for: address, under: options, at: time)
        self.candidates = candidates
        lacksChains = zip(candidates, judged).contains { candidate, judged in
            (candidate.reason.isSelected || candidate.reason == .revocationUnknown) && judged?.chain == nil
                && judged?.verdict.revocation == .unknown
        }
    }
}

extension RecipientChoice.Judged {
    /// Judges `recipient`, one of `recipients`, by `trust` and nothing that is kept.
    init(
        _ recipient: KnownRecipient,
        of recipients: [KnownRecipient],
        _ trust: TrustStore,
        extra: [Certificate],
        at time: Date
    ) {
        var trust = trust
        // Decisions about a certificate for another address do not count here.
        trust.pinned = Set(recipients.filter { $0.trust == .pinned }.map(\.certificate.publicKeyDigest))
        trust.distrusted = []
        let chain = trust.judge(recipient.certificate, extra: extra, purpose: .encryption, at: time, detail: .trust)
        self.init(verdict: RecipientVerdict(chain), chain: chain)
    }
}
