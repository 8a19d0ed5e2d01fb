package import Foundation
package import PKIX

/// Selects the certificate to which a message to an address is encrypted, and gives the reason why each other one is not
/// used. The result depends only on the arguments.
package enum RecipientSelection {
    /// Why a certificate is used or not.
    package enum Reason: String, Hashable, Sendable {
        /// A file of the system's trust anchors cannot be read, so it is unknown whether the certificate is trusted.
        case anchorUnreadable = "anchor-unreadable"
        /// The certificate says that it belongs to a CA, and is not pinned.
        case authority
        /// Checking the certificate takes too long, so it is unknown whether it is trusted or was revoked.
        case checkTooLong = "check-too-long"
        case distrusted
        case expired
        /// The certificate would replace one with another key or issuer (`ChangePolicy`), so a user must trust it first.
        case held
        /// The certificate is usable, but belongs to an account of this store, which has the private key of another
        /// certificate.
        case keyMissing = "key-missing"
        /// The certificate is usable, but one from a source that is earlier in `lookup.order` is used.
        case laterSource = "later-source"
        case notForEncryption = "not-for-encryption"
        case notYetValid = "not-yet-valid"
        /// The certificate is known for the address, but does not name it, and no user pinned it or assigned it to the
        /// address.
        case otherAddress = "other-address"
        /// The certificate is usable, but another one is pinned.
        case pinnedPreferred = "pinned-preferred"
        /// The certificate is usable and belongs to the domain, but the address has a certificate of its own.
        case ownPreferred = "own-preferred"
        case revoked
        /// The revocation status of the certificate is unknown, and the revocation policy is `hard`.
        case revocationUnknown = "revocation-unknown"
        /// The certificate is used.
        case selected
        /// The certificate belongs to the domain, and is used because the address has no usable certificate of its own.
        case selectedForDomain = "selected-for-domain"
        /// The certificate is usable, but a newer one is used.
        case superseded
        /// This libcrypto does not support the certificate's type of key.
        case unsupportedKey = "unsupported-key"
        /// The certificate is not pinned, and its chain does not lead to an anchor.
        case untrusted
        /// The certificate's key is too short to encrypt to, whether pinned or not.
        case weakKey = "weak-key"

        /// Whether mail is encrypted to the certificate.
        package var isSelected: Bool { self == .selected || self == .selectedForDomain }
    }

    /// The parts of a verdict on a certificate's chain that matter for the selection.
    package struct Chain: Hashable, Sendable {
        /// Whether the chain leads to an anchor and is valid now.
        package let isTrusted: Bool
        /// Whether the certificate, or a CA certificate in the chain, is known to be revoked.
        package let isRevoked: Bool
        /// Whether the revocation status is required but unknown.
        package let isRevocationMissing: Bool
        /// Why the other values may be wrong; nil if the check was complete.
        package let incompleteness: ChainVerdict.Incompleteness?

        package init(
            isTrusted: Bool,
            isRevoked: Bool = false,
            isRevocationMissing: Bool = false,
            incompleteness: ChainVerdict.Incompleteness? = nil
        ) {
            self.isTrusted = isTrusted
            self.isRevoked = isRevoked
            self.isRevocationMissing = isRevocationMissing
            self.incompleteness = incompleteness
        }
    }

    /// The reason why each of `recipients` is used or not at `time`; at most one is selected. All must be for one address
    /// or its domain.
    ///
    /// A certificate is usable if it is valid, allows encryption, is not revoked, and chains to an anchor or is pinned.
    /// `Reason` lists further conditions. The selected certificate is determined by these criteria, in this order:
    ///
    /// 1. The certificate is for the address, not only for the domain.
    /// 2. The store has the private key, if the address belongs to one of its accounts.
    /// 3. The certificate is from the source that comes first in the lookup.
    /// 4. The certificate is pinned.
    /// 5. The certificate became valid last.
    ///
    /// - Parameter chains: the verdict on each recipient's chain, in the same order.
    package static func judge(_ recipients: [KnownRecipient], chains: [Chain], at time: Date) -> [Reason] {
        reasons(for: recipients, chains, at: time)
    }

    /// Like `judge`, for any type that describes recipients.
    static func reasons(
        for recipients: [some SelectableRecipient],
        _ chains: [Chain],
        at time: Date
    ) -> [Reason] {
        var reasons = zip(recipients, chains).map { reason(for: $0, $1, at: time) }
        let usable = reasons.indices.filter { reasons[$0] == nil }
        guard let best = usable.max(by: { precedes(recipients[$1], over: recipients[$0]) }) else {
            return reasons.compactMap(\.self)
        }
        for index in usable { reasons[index] = reason(for: recipients[index], besides: recipients[best]) }
        reasons[best] = .selected
        return reasons.compactMap(\.self)
    }

    private static func precedes<Recipient: SelectableRecipient>(_ a: Recipient, over b: Recipient) -> Bool {
        if a.address.isDomain != b.address.isDomain { return b.address.isDomain }
        if a.lacksKey != b.lacksKey { return b.lacksKey }
        if a.rank != b.rank { return a.rank < b.rank }
        if (a.trust == .pinned) != (b.trust == .pinned) { return a.trust == .pinned }
        return a.traits.isNewer(than: b.traits)
    }

    /// Why `recipient`, which is usable, is not used instead of `best`.
    private static func reason<Recipient: SelectableRecipient>(
        for recipient: Recipient,
        besides best: Recipient
    ) -> Reason {
        if recipient.address.isDomain != best.address.isDomain { return .ownPreferred }
        if recipient.lacksKey != best.lacksKey { return .keyMissing }
        if recipient.rank != best.rank { return .laterSource }
        return recipient.trust == best.trust || best.traits.isNewer(than: recipient.traits)
            ? .superseded : .pinnedPreferred
    }

    /// Why `recipient` cannot be used; nil if it is usable.
    private static func reason(for recipient: some SelectableRecipient, _ chain: Chain, at time: Date) -> Reason? {
        let traits = recipient.traits
        guard recipient.trust != .distrusted else { return .distrusted }
        guard traits.isKeyOffered else { return .unsupportedKey }
        guard traits.keyAllowsEncryption else { return .notForEncryption }
        guard traits.notBefore.isNoLater(than: time) else { return .notYetValid }
        guard time.isNoLater(than: traits.notAfter) else { return .expired }
        guard !chain.isRevoked else { return .revoked }
        guard !chain.isRevocationMissing || chain.incompleteness != nil else { return .revocationUnknown }
        guard recipient.trust != .held else { return .held }
        guard !traits.isKeyWeak else { return .weakKey }
        let unknown = chain.incompleteness.map(Reason.init)
        guard recipient.trust != .pinned else { return unknown }
        guard !traits.isAuthority else { return .authority }
        // A user has assigned an imported certificate to its addresses. A learned one is used only for the addresses that
        // it names.
        let isLearned = recipient.source == .harvest
        guard recipient.rank == 0 && !isLearned || recipient.namesAddress, !isLearned || !recipient.address.isDomain
        else { return .otherAddress }
        return unknown ?? (chain.isTrusted ? nil : .untrusted)
    }
}

extension RecipientSelection.Reason {
    /// Whether the certificate may be usable.
    var isUndecided: Bool { self == .anchorUnreadable || self == .checkTooLong }

    fileprivate init(_ incompleteness: ChainVerdict.Incompleteness) {
        self =
            switch incompleteness {
            case .takesTooLong: .checkTooLong
            case .anchorUnreadable: .anchorUnreadable
            }
    }
}

extension RecipientSelection.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .anchorUnreadable: "the system's trust anchor cannot be read"
        case .authority: "it is a CA certificate (CA:TRUE), and is not pinned"
        case .checkTooLong: "checking its chain and whether it was revoked takes too long"
        case .distrusted: "distrusted by hand"
        case .expired: "expired"
        case .held: "held until it is trusted, because its issuer or key changed"
        case .keyMissing: "the store has no private key for it, but has one for another certificate of the account"
        case .laterSource: "a certificate from a source that is earlier in lookup.order is used"
        case .notForEncryption: "it does not allow encryption"
        case .notYetValid: "not valid yet"
        case .otherAddress: "it does not name the address, and is not pinned"
        case .pinnedPreferred: "another one is pinned"
        case .ownPreferred: "the address has one of its own"
        case .revoked: "revoked"
        case .revocationUnknown: "no revocation list or OCSP response says whether it was revoked"
        case .selected: "used"
        case .selectedForDomain: "used, as the domain's"
        case .superseded: "a newer one is used"
        case .untrusted: "its chain leads to no trust anchor, and it is not pinned"
        case .unsupportedKey: "this libcrypto cannot encrypt to its key"
        case .weakKey: "its key is too short to encrypt to"
        }
    }
}
