package import Foundation
package import InternetMessage
import PKIX

/// Which of an account's identities is used today, and why not the others. The result depends on the arguments alone.
package enum IdentitySelection {
    /// The use of the key.
    package enum Purpose: String, Hashable, Sendable {
        case encryption
        case signing
    }

    /// Whether an identity is selected, or why not.
    package enum SelectionState: String, Hashable, Sendable {
        /// The one that is used.
        case current
        case expired
        case notYetValid = "not-yet-valid"
        /// The certificate names other addresses only.
        case otherAddress = "other-address"
        /// A revocation list or a responder says that it was revoked.
        case revoked
        /// It is usable, but another one is pinned or newer.
        case superseded
        /// Usable, but its chain is not trusted, and another one is pinned or trusted.
        case untrusted
        /// The key is too short to encrypt to.
        case weakKey = "weak-key"
        /// The certificate does not allow the purpose.
        case wrongUsage = "wrong-usage"

        /// The text after the number of such identities.
        var words: String {
            switch self {
            case .current, .superseded, .untrusted: "usable"
            case .expired: "expired"
            case .notYetValid: "not valid yet"
            case .otherAddress: "with a certificate for other addresses only"
            case .revoked: "revoked"
            case .weakKey: "with a key that is too short to encrypt to"
            case .wrongUsage: "with a certificate that does not allow it"
            }
        }
    }

    /// Why one of several is current.
    package enum Merit: Hashable, Sendable {
        case newest
        /// No other identity is usable.
        case only
        case pinned
        /// It is the only trusted one; a newer identity exists whose chain is not trusted.
        case trusted
    }

    /// The state of each of `identities` for mail of `address` at the time `time`; at most one is current.
    ///
    /// An identity is usable if it is valid and not revoked, allows the purpose, and names the address or was assigned by hand. Of those a
    /// pinned one is preferred, then trusted ones, then the one that became valid last.
    ///
    /// - Parameter verdicts: which certificates are revoked or untrusted.
    package static func judge(
        _ identities: [AccountIdentity],
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date,
        verdicts: CertificateVerdicts = CertificateVerdicts()
    ) -> [SelectionState] {
        var states = identities.map { identity in
            let state = state(of: identity, for: address, purpose: purpose, at: time)
            return state == .superseded && verdicts.isRevoked(identity.certificate) ? .revoked : state
        }
        let usable = identities.indices.filter { states[$0] == .superseded }
        let best = usable.max { precedes(identities[$1], over: identities[$0], by: verdicts) }
        guard let best else { return states }
        for index in usable where verdicts.isUntrusted(identities[index].certificate) { states[index] = .untrusted }
        // If none is trusted, the others are not used because they are older.
        if states[best] == .untrusted {
            for index in usable { states[index] = .superseded }
        }
        states[best] = .current
        return states
    }

    /// The identity that `judge` finds current.
    package static func current(
        of identities: [AccountIdentity],
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date,
        verdicts: CertificateVerdicts = CertificateVerdicts()
    ) -> AccountIdentity? {
        let states = judge(identities, for: address, purpose: purpose, at: time, verdicts: verdicts)
        return zip(identities, states).first { $1 == .current }?.0
    }

    /// The identity that ends without a usable successor at the time `end`: the one that is current at the time `start`, or else
    /// the one that ended last.
    ///
    /// - Returns: nil if one is usable at the time `end`, or none ever was.
    package static func lapsing(
        of identities: [AccountIdentity],
        for address: EmailAddress,
        purpose: Purpose,
        from start: Date,
        to end: Date,
        verdicts: CertificateVerdicts = CertificateVerdicts()
    ) -> AccountIdentity? {
        let last = judge(identities, for: address, purpose: purpose, at: end, verdicts: verdicts)
        guard !last.contains(.current) else { return nil }
        let now = judge(identities, for: address, purpose: purpose, at: start, verdicts: verdicts)
        let candidates = zip(identities, now).filter { $1 == .current || $1 == .expired }
        return candidates.first { $0.1 == .current }?.0
            ?? candidates.map(\.0).max { $0.certificate.notAfter < $1.certificate.notAfter }
    }

    /// Why `judge` selected `current` and not the others with `states`.
    ///
    /// - Parameter states: those of `identities`.
    package static func merit(
        of current: AccountIdentity,
        among identities: [AccountIdentity],
        _ states: [SelectionState]
    ) -> Merit {
        let others = zip(identities, states).filter { $1 == .superseded || $1 == .untrusted }
        if others.isEmpty { return .only }
        let isNewest = others.allSatisfy { !$0.0.certificate.isNewer(than: current.certificate) }
        if current.isPinned { return isNewest ? .newest : .pinned }
        return isNewest ? .newest : .trusted
    }

    private static func state(
        of identity: AccountIdentity,
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date
    ) -> SelectionState {
        let certificate = identity.certificate
        guard purpose == .signing ? certificate.canSign : certificate.canEncrypt else { return .wrongUsage }
        guard purpose == .signing || !certificate.publicKeyAlgorithm.isWeak else { return .weakKey }
        guard identity.isAssigned || certificate.names(address) else { return .otherAddress }
        guard certificate.notBefore <= time else { return .notYetValid }
        guard certificate.notAfter >= time else { return .expired }
        return .superseded
    }

    private static func precedes(_ a: AccountIdentity, over b: AccountIdentity, by verdicts: CertificateVerdicts)
        -> Bool
    {
        if a.isPinned != b.isPinned { return a.isPinned }
        let (isAUntrusted, isBUntrusted) = (verdicts.isUntrusted(a.certificate), verdicts.isUntrusted(b.certificate))
        if isAUntrusted != isBUntrusted { return isBUntrusted }
        return a.certificate.isNewer(than: b.certificate)
    }
}
