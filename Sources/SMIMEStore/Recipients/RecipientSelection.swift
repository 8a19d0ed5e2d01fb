package import Foundation

/// Which certificate a message to an address is encrypted to, and why not the others. Pure: the same arguments, the
/// same answer.
package enum RecipientSelection {
    /// Why a certificate is used or not.
    package enum Reason: String, Hashable, Sendable {
        /// It says that it is an authority's, and is not pinned.
        case authority
        case distrusted
        case expired
        /// It does not continue the known certificates, and waits for a user's trust.
        case held
        /// It would do, but is for an account of ours, and the store has the key of another one.
        case keyMissing = "key-missing"
        /// It would do, but a source that goes first has another one.
        case laterSource = "later-source"
        case notForEncryption = "not-for-encryption"
        case notYetValid = "not-yet-valid"
        /// It was found under the address, but does not name it.
        case otherAddress = "other-address"
        /// It would do, but another one is pinned.
        case pinnedPreferred = "pinned-preferred"
        /// It is the domain's and would do, but the address has one of its own.
        case ownPreferred = "own-preferred"
        case revoked
        /// It is unknown whether it was revoked, and that must be known.
        case revocationUnknown = "revocation-unknown"
        /// The one that is used.
        case selected
        /// Used for an address that has no usable certificate of its own; it belongs to the domain.
        case selectedForDomain = "selected-for-domain"
        /// It would do, but a newer one is used.
        case superseded
        /// Its key is of a kind that this libcrypto does not have.
        case unsupportedKey = "unsupported-key"
        /// It is not pinned, and its chain does not lead to an anchor.
        case untrusted
        /// Its key is too short to encrypt to, pinned or not.
        case weakKey = "weak-key"

        /// Whether this is the one that mail is encrypted to.
        package var isSelected: Bool { self == .selected || self == .selectedForDomain }
    }

    /// The verdict on a certificate's chain.
    package struct Chain: Hashable, Sendable {
        /// Whether it leads to an anchor and is valid now.
        package let isTrusted: Bool
        /// Whether it, or an authority above it, is known to have been revoked.
        package let isRevoked: Bool
        /// Whether something should say that it was not revoked, and nothing does.
        package let isRevocationMissing: Bool

        package init(isTrusted: Bool, isRevoked: Bool = false, isRevocationMissing: Bool = false) {
            self.isTrusted = isTrusted
            self.isRevoked = isRevoked
            self.isRevocationMissing = isRevocationMissing
        }
    }

    /// The reason of each of `recipients`, all of one address or its domain, at the time `time`; at most one is
    /// selected.
    ///
    /// Usable is what is valid, allows encryption, is not revoked, and chains to an anchor or is pinned. Of those the
    /// address's own go before its domain's, then, for an account of ours, those whose keys the store has, then those of the source that is asked first, then pinned ones, then the one
    /// that became valid last.
    ///
    /// - Parameter chains: what is known of each recipient's chain, in the same order.
    package static func judge(_ recipients: [KnownRecipient], chains: [Chain], at time: Date) -> [Reason] {
        reasons(for: recipients, chains, at: time)
    }

    /// The same for whatever is known of recipients.
    static func reasons(
        for recipients: [some SelectableRecipient],
        _ chains: [Chain],
        at time: Date
    ) -> [Reason] {
        var reasons = zip(recipients, chains).map { reason(for: $0, $1, at: time) }
        let usable = reasons.indices.filter { reasons[$0] == nil }
        guard let best = usable.max(by: { precedes(recipients[$1], recipients[$0]) }) else {
            return reasons.compactMap(\.self)
        }
        for index in usable { reasons[index] = reason(for: recipients[index], besides: recipients[best]) }
        reasons[best] = .selected
        return reasons.compactMap(\.self)
    }

    private static func precedes<Recipient: SelectableRecipient>(_ a: Recipient, _ b: Recipient) -> Bool {
        if a.address.isDomain != b.address.isDomain { return b.address.isDomain }
        if a.lacksKey != b.lacksKey { return b.lacksKey }
        if a.rank != b.rank { return a.rank < b.rank }
        if (a.trust == .pinned) != (b.trust == .pinned) { return a.trust == .pinned }
        return a.traits.isNewer(than: b.traits)
    }

    /// Why `recipient`, which would do, is not used but `best`.
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

    /// Why `recipient` cannot be used; nil if it would do.
    private static func reason(for recipient: some SelectableRecipient, _ chain: Chain, at time: Date) -> Reason? {
        let traits = recipient.traits
        guard recipient.trust != .distrusted else { return .distrusted }
        guard traits.isKeyOffered else { return .unsupportedKey }
        guard traits.keyAllowsEncryption else { return .notForEncryption }
        guard traits.notBefore <= time else { return .notYetValid }
        guard traits.notAfter >= time else { return .expired }
        guard !chain.isRevoked else { return .revoked }
        guard !chain.isRevocationMissing else { return .revocationUnknown }
        guard recipient.trust != .held else { return .held }
        guard !traits.isKeyWeak else { return .weakKey }
        guard recipient.trust != .pinned else { return nil }
        guard !traits.isAuthority else { return .authority }
        guard recipient.rank == 0 || recipient.namesAddress else { return .otherAddress }
        return chain.isTrusted ? nil : .untrusted
    }
}

extension RecipientSelection.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .authority: "it says that it is an authority's (CA:TRUE), and is not pinned"
        case .distrusted: "distrusted by hand"
        case .expired: "expired"
        case .held: "held until it is trusted, because its issuer or key changed"
        case .keyMissing: "the store lacks its key, and has that of another one"
        case .laterSource: "one of a source that goes first is used"
        case .notForEncryption: "its certificate does not allow encryption"
        case .notYetValid: "not valid yet"
        case .otherAddress: "it does not name the address, and is not pinned"
        case .pinnedPreferred: "another one is pinned"
        case .ownPreferred: "the address has one of its own"
        case .revoked: "revoked"
        case .revocationUnknown: "nothing at hand says whether it was revoked"
        case .selected: "used"
        case .selectedForDomain: "used, as the domain's"
        case .superseded: "a newer one is used"
        case .untrusted: "its chain leads to no trust anchor, and it is not pinned"
        case .unsupportedKey: "this libcrypto cannot encrypt to its key"
        case .weakKey: "its key is too short to encrypt to"
        }
    }
}
