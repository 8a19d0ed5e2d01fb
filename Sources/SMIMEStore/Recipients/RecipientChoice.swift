package import Foundation
package import PKIX

/// The certificates known for an address or domain, with the reason why each is used or not.
package struct RecipientChoice: Sendable {
    /// The address that was looked up.
    package let address: AddressScope
    /// All certificates known for the address, with the reason why each is used or not: those of the registry for the address,
    /// then for its domain, both newest first, and then those of other sources.
    package let candidates: [(recipient: KnownRecipient, reason: RecipientSelection.Reason)]

    /// One sentence for each source that could not be queried, with the reason. It is unknown which certificates these
    /// sources have.
    package internal(set) var outages: [String] = []
    /// Whether mail to the address waits for an unavailable source even if the mail need not be encrypted. This is so for a
    /// local source, such as a folder of certificates, and for an outage of a remote source with `SourceOutage.holdsMail`.
    /// For other outages, only mail that must be encrypted waits.
    package internal(set) var isHeldByOutage = false

    /// The chain of each candidate; nil for a certificate that a user distrusted, and for one with a stored verdict. For an
    /// untrusted chain, not all problems are known (`TrustStore.Detail.trust`).
    let chains: [ChainVerdict?]

    /// The certificate that is used; nil if no certificate can be used.
    package var selected: KnownRecipient? { candidates.first { $0.reason.isSelected }?.recipient }

    /// The certificates to which an already encrypted message may be encrypted for the address: the selected one, and
    /// usable older ones with the same trust and for the same address or domain, because the sender's program may still
    /// use those.
    package var inUse: [Certificate] {
        guard let selected else { return [] }
        return candidates.filter { recipient, reason in
            reason.isSelected
                || reason == .superseded && recipient.address == selected.address && recipient.trust == selected.trust
        }.map(\.recipient.certificate)
    }

    /// The chains of the selected certificate, and of those that cannot be used because their revocation status is
    /// unknown.
    var wantedChains: [ChainVerdict] {
        zip(candidates, chains).compactMap { candidate, verdict in
            candidate.reason.isSelected || candidate.reason == .revocationUnknown ? verdict : nil
        }
    }

    /// Whether the selected certificate, or one with the reason `.revocationUnknown`, has an unknown revocation status,
    /// but no chain for which responders could be queried: its verdict was stored.
    let lacksChains: Bool

    /// Whether a usable certificate may exist although none is selected, because a source could not be queried.
    package var isUnknown: Bool { selected == nil && !outages.isEmpty }

    /// Whether a known certificate may be usable, but checking it takes too long, or an anchor cannot be read.
    package var isUndecided: Bool { selected == nil && candidates.contains { $0.reason.isUndecided } }

    /// Whether there is a certificate of the owner that cannot be used: it is not valid now, held, revoked or untrusted,
    /// its key is too weak or not supported, or its check is incomplete.
    package var hasUnusable: Bool {
        candidates.contains { candidate in
            switch candidate.reason {
            case .anchorUnreadable, .checkTooLong, .expired, .held, .notYetValid, .revocationUnknown, .revoked,
                .unsupportedKey,
                .untrusted, .weakKey:
                true
            case .authority, .distrusted, .keyMissing, .laterSource, .notForEncryption, .otherAddress, .ownPreferred,
                .pinnedPreferred, .selected, .selectedForDomain, .superseded:
                false
            }
        }
    }

    /// Describes why no certificate can be used.
    package var reasonForNoCertificate: String {
        var seen: Set<String> = []
        let reasons = zip(candidates, chains).map { candidate, chain in
            switch candidate.reason {
            case .anchorUnreadable: chain?.unreadableAnchor?.text ?? candidate.reason.description
            case .expired: "expired on \(candidate.recipient.certificate.notAfter.day)"
            default: candidate.reason.description
            }
        }
        let texts = (reasons + outages).filter { seen.insert($0).inserted }
        return texts.isEmpty ? "none is known" : texts.joined(separator: "; ")
    }

    /// Validates `recipients`, all for `address` or its domain, with the anchors and revocation lists in `trust`.
    ///
    /// - Parameter extra: CA certificates from the same sources. They are not trusted themselves.
    package init(
        address: AddressScope,
        recipients: [KnownRecipient],
        trust: TrustStore,
        extra: [Certificate] = [],
        at time: Date
    ) {
        let own = trust.withOnlyPins(of: recipients)
        let judged = recipients.map { recipient in
            recipient.trust == .distrusted
                ? nil : Judged(recipient, PathValidator(own), extra: extra, at: time)
        }
        self.init(address: address, recipients: recipients, judged: judged, under: trust.options, at: time)
    }

    /// The verdict on one of several recipients.
    struct Judged {
        let verdict: RecipientVerdict
        /// The chain to which the verdict applies; nil if the verdict was stored.
        let chain: ChainVerdict?
    }

    /// Chooses among `recipients`, all for `address` or its domain.
    ///
    /// - Parameter judged: the verdict on each recipient; nil for a certificate that a user distrusted.
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
    /// Validates `recipient` with a validator for the address. Stored verdicts are not used.
    init(_ recipient: KnownRecipient, _ validator: PathValidator, extra: [Certificate], at time: Date) {
        let chain = validator.judge(recipient.certificate, extra: extra, purpose: .encryption, at: time, detail: .trust)
        self.init(verdict: RecipientVerdict(chain), chain: chain)
    }
}

extension TrustStore {
    /// This store with the pins of `recipients`, all for one address or its domain, in place of all decisions of the
    /// store. Those for other addresses do not apply here, and distrusted recipients are not validated.
    func withOnlyPins(of recipients: [KnownRecipient]) -> TrustStore {
        var store = self
        store.pinned = Set(recipients.filter { $0.trust == .pinned }.map(\.certificate.publicKeyDigest))
        store.distrusted = []
        return store
    }
}

/// The properties that decide whether mail to an address is encrypted to a certificate, except for the chain.
protocol SelectableRecipient {
    var address: AddressScope { get }
    var source: KnownRecipient.Source { get }
    var trust: KnownRecipient.Trust { get }
    var rank: Int { get }
    var lacksKey: Bool { get }
    /// The bytes of the certificate's `PublicKeyDigest`.
    var key: [UInt8] { get }
    var traits: CertificateTraits { get }
    /// Whether the certificate names `address`. For a domain: whether the certificate names an address in the domain.
    var namesAddress: Bool { get }
    /// The database columns for the verdict on the certificate; nil if they were not read.
    var record: VerdictRecord? { get }

    /// This recipient with another trust.
    func with(_ trust: KnownRecipient.Trust) -> Self
}

/// The properties of a certificate that decide whether mail is encrypted to it.
struct CertificateTraits: Sendable {
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date
    /// Whether this libcrypto supports the certificate's key.
    let isKeyOffered: Bool
    let isKeyWeak: Bool
    let keyAllowsEncryption: Bool
    let isAuthority: Bool
}

/// An item that can be compared by age with others of its kind.
protocol Renewable {
    var fingerprint: Fingerprint { get }
    var notBefore: Date { get }
    var notAfter: Date { get }
}

extension Renewable {
    /// Whether this item became valid after `other`. If both became valid at the same time, the one that expires later is
    /// newer. If both periods are equal, the fingerprints decide, so that the order is total.
    func isNewer(than other: Self) -> Bool {
        if notBefore != other.notBefore { return notBefore > other.notBefore }
        if notAfter != other.notAfter { return notAfter > other.notAfter }
        return fingerprint < other.fingerprint
    }
}

extension Certificate: Renewable {}
extension CertificateTraits: Renewable {}

extension CertificateTraits {
    init(of certificate: Certificate) {
        self.init(
            fingerprint: certificate.fingerprint,
            notBefore: certificate.notBefore,
            notAfter: certificate.notAfter,
            isKeyOffered: certificate.publicKeyAlgorithm.isOffered,
            isKeyWeak: certificate.publicKeyAlgorithm.isWeak,
            keyAllowsEncryption: certificate.keyAllowsEncryption,
            isAuthority: certificate.isCertificateAuthority
        )
    }
}

extension KnownRecipient: SelectableRecipient {
    var key: [UInt8] { certificate.publicKeyDigest.bytes }
    var traits: CertificateTraits { CertificateTraits(of: certificate) }
    var namesAddress: Bool { certificate.names(address) }
}
