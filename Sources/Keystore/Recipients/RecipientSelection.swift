import CMS
public import Foundation

/// Which certificate a message to an address is encrypted to, and why not the others. Pure: the same arguments, the
/// same answer.
public enum RecipientSelection {
    /// Why a certificate is used or not.
    public enum Reason: String, Hashable, Sendable {
        case distrusted
        case expired
        /// It does not continue what was known, and nobody has trusted it yet.
        case held
        case notForEncryption = "not-for-encryption"
        case notYetValid = "not-yet-valid"
        case revoked
        /// The one that is used.
        case selected
        /// It would do, but a newer one is used.
        case superseded
        /// It is not pinned, and its chain does not lead to an anchor.
        case untrusted
        /// Its key is too short to be believed without having been pinned.
        case weakKey = "weak-key"
    }

    /// What the outside world says of a certificate.
    public struct Chain: Hashable, Sendable {
        public let isTrusted: Bool
        public let isRevoked: Bool

        public init(isTrusted: Bool, isRevoked: Bool = false) {
            self.isTrusted = isTrusted
            self.isRevoked = isRevoked
        }
    }

    /// The reason of each of `recipients`, all of one address, at the time `time`; at most one is selected.
    ///
    /// Usable is what is valid, allows encryption, is not revoked, and chains to an anchor or is pinned. Of those the
    /// one that became valid last is selected.
    ///
    /// - Parameter chains: what is known of each recipient's chain, in the same order.
    public static func judge(_ recipients: [KnownRecipient], chains: [Chain], at time: Date) -> [Reason] {
        var reasons = zip(recipients, chains).map { reason(for: $0, $1, at: time) }
        let usable = reasons.indices.filter { reasons[$0] == .superseded }
        let best = usable.max { recipients[$1].certificate.isNewer(than: recipients[$0].certificate) }
        if let best { reasons[best] = .selected }
        return reasons
    }

    private static func reason(for recipient: KnownRecipient, _ chain: Chain, at time: Date) -> Reason {
        let certificate = recipient.certificate
        guard recipient.trust != .distrusted else { return .distrusted }
        guard certificate.canEncrypt else { return .notForEncryption }
        guard certificate.notBefore <= time else { return .notYetValid }
        guard certificate.notAfter >= time else { return .expired }
        guard !chain.isRevoked else { return .revoked }
        guard recipient.trust != .held else { return .held }
        guard recipient.trust != .pinned else { return .superseded }
        guard !certificate.publicKeyAlgorithm.isWeak else { return .weakKey }
        return chain.isTrusted ? .superseded : .untrusted
    }
}

extension RecipientSelection.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .distrusted: "distrusted by hand"
        case .expired: "expired"
        case .held: "held back until `smime recipient trust`, as it is by another issuer or for another key"
        case .notForEncryption: "its certificate does not allow encryption"
        case .notYetValid: "not valid yet"
        case .revoked: "revoked"
        case .selected: "used"
        case .superseded: "a newer one is used"
        case .untrusted: "its chain leads to no trust anchor, and it is not pinned"
        case .weakKey: "its key is weak, and it is not pinned"
        }
    }
}
