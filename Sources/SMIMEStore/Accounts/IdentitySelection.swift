package import Foundation
package import InternetMessage
package import PKIX

/// Selects the identity that an account uses, and gives the reason why each other one is not used. The result depends only
/// on the arguments.
package enum IdentitySelection {
    /// What the private key is used for.
    package enum Purpose: String, Hashable, Sendable {
        case encryption
        case signing
    }

    /// Whether an identity is used, or why it is not used.
    package enum SelectionState: String, Hashable, Sendable {
        /// The identity is the one that is used.
        case current
        case expired
        case notYetValid = "not-yet-valid"
        /// The certificate does not name the account's address.
        case otherAddress = "other-address"
        /// A revocation list or an OCSP responder says that the certificate was revoked.
        case revoked
        /// The identity is usable, but another one is pinned or newer.
        case superseded
        /// The identity is usable, but its chain is not trusted, while the chain of the current identity is.
        case untrusted
        /// The private key is for encryption and too short to be secure.
        case weakKey = "weak-key"
        /// The certificate does not allow the purpose.
        case wrongUsage = "wrong-usage"

        /// Describes the identities in this state, after their number in a message.
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

    /// Why the current identity was preferred to other usable ones.
    package enum PreferenceReason: Hashable, Sendable {
        case newest
        /// No other identity is usable.
        case only
        case pinned
        /// The current identity is trusted; a newer identity exists whose chain is not trusted.
        case trusted
    }

    /// The state of each of `identities` for mail of `address` at `time`; at most one is current.
    ///
    /// An identity is usable if it is valid and not revoked, allows the purpose, names the address or was assigned by a
    /// user, and (for encryption) has a key that is long enough. Among usable identities a pinned one is preferred, then
    /// trusted ones, then the one that became valid last.
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
        // The current identity is untrusted only if all are, or if it is pinned. Then trust is not why the others are unused.
        if states[best] == .untrusted {
            for index in usable { states[index] = .superseded }
        }
        states[best] = .current
        return states
    }

    /// The identity for which `judge` returns `.current`; nil if there is none.
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

    /// The identity to replace if the account has no usable identity at `end`: the one that is current at `start`, or
    /// otherwise the one that expired last.
    ///
    /// - Returns: nil if an identity is usable at `end`, or if none is current or expired at `start`.
    package static func identityToRenew(
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

    /// Why `judge` preferred `current` to the other identities.
    ///
    /// - Parameter states: the states of `identities`, as `judge` returned them.
    package static func preferenceReason(
        of current: AccountIdentity,
        among identities: [AccountIdentity],
        _ states: [SelectionState]
    ) -> PreferenceReason {
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
        guard certificate.hasBegun(at: time) else { return .notYetValid }
        guard !certificate.hasEnded(at: time) else { return .expired }
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

/// Selects the identity that signs mail with a given author in From. Commands and gateways share this rule.
///
/// Mail readers distrust a signature by a certificate that does not name the author, so a gateway never signs with such a
/// certificate. A user of the command may have assigned such a certificate to the author's account; then the command signs
/// and warns.
extension IdentitySelection {
    /// How a certificate is related to the author of mail.
    package enum AuthorMatch: Hashable, Sendable {
        /// The certificate names the author.
        case named
        /// A user assigned the certificate to the author's account.
        case assigned
        /// The certificate neither names the author nor was assigned to the author's account, so it must not sign.
        case foreign
    }

    /// How `certificate` is related to `author`.
    ///
    /// - Parameter identities: the identities of the author's account.
    package static func match(
        of certificate: Certificate,
        with author: EmailAddress,
        in identities: [AccountIdentity]
    ) -> AuthorMatch {
        if certificate.names(author) { return .named }
        return identities.contains { $0.isAssigned && $0.certificate == certificate } ? .assigned : .foreign
    }

    /// The identity that signs mail with `author` in From: the current one of the identities whose certificates name the
    /// author.
    ///
    /// - Parameter account: the address of the account whose current identity signs if no usable identity names the author.
    ///   The caller must check this identity with `match`. If `account` is nil, as in a gateway, no identity signs then.
    package static func signer(
        naming author: EmailAddress,
        orCurrentOf account: EmailAddress?,
        of identities: [AccountIdentity],
        at time: Date,
        verdicts: CertificateVerdicts
    ) -> AccountIdentity? {
        let named = identities.filter { $0.certificate.names(author) }
        return current(of: named, for: author, purpose: .signing, at: time, verdicts: verdicts)
            ?? account.flatMap { current(of: identities, for: $0, purpose: .signing, at: time, verdicts: verdicts) }
    }
}
