import CMS
public import Foundation
public import MIME

/// Which of an account's identities is used today, and why not the others. Pure: the same arguments, the same answer.
public enum IdentitySelection {
    /// What the key is wanted for.
    public enum Purpose: String, Hashable, Sendable {
        case encryption
        case signing
    }

    /// Where an identity stands.
    public enum Standing: String, Hashable, Sendable {
        /// The one that is used.
        case current
        case expired
        case notYetValid = "not-yet-valid"
        /// The certificate names other addresses only.
        case otherAddress = "other-address"
        /// A list or a responder says so.
        case revoked
        /// It would do, but another one is pinned or newer.
        case superseded
        /// The key is too short to encrypt to.
        case weakKey = "weak-key"
        /// The certificate does not allow the purpose.
        case wrongUsage = "wrong-usage"

        /// As it stands behind a number of identities.
        var words: String {
            switch self {
            case .current, .superseded: "usable"
            case .expired: "expired"
            case .notYetValid: "not valid yet"
            case .otherAddress: "with a certificate for other addresses only"
            case .revoked: "revoked"
            case .weakKey: "with a key that is too short to encrypt to"
            case .wrongUsage: "with a certificate that does not allow it"
            }
        }
    }

    /// The standing of each of `identities` for mail of `address` at the time `time`; at most one is current.
    ///
    /// Usable is what is valid, not revoked, allows the purpose, and names the address or was assigned by hand. Of those a
    /// pinned one goes first, then the one that became valid last.
    ///
    /// - Parameter revoked: what is known to have been revoked.
    public static func judge(
        _ identities: [Identity],
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date,
        revoked: RevokedCertificates = RevokedCertificates()
    ) -> [Standing] {
        var standings = identities.map { identity in
            let standing = standing(of: identity, for: address, purpose: purpose, at: time)
            return standing == .superseded && revoked.contains(identity.certificate) ? .revoked : standing
        }
        let usable = identities.indices.filter { standings[$0] == .superseded }
        if let best = usable.max(by: { precedes(identities[$1], identities[$0]) }) { standings[best] = .current }
        return standings
    }

    /// The identity that `judge` finds current.
    public static func current(
        of identities: [Identity],
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date,
        revoked: RevokedCertificates = RevokedCertificates()
    ) -> Identity? {
        let standings = judge(identities, for: address, purpose: purpose, at: time, revoked: revoked)
        return zip(identities, standings).first { $1 == .current }?.0
    }

    private static func standing(
        of identity: Identity,
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date
    ) -> Standing {
        let certificate = identity.certificate
        guard purpose == .signing ? certificate.canSign : certificate.canEncrypt else { return .wrongUsage }
        guard purpose == .signing || !certificate.publicKeyAlgorithm.isWeak else { return .weakKey }
        guard identity.isAssigned || certificate.names(address) else { return .otherAddress }
        guard certificate.notBefore <= time else { return .notYetValid }
        guard certificate.notAfter >= time else { return .expired }
        return .superseded
    }

    private static func precedes(_ a: Identity, _ b: Identity) -> Bool {
        if a.isPinned != b.isPinned { return a.isPinned }
        return a.certificate.isNewer(than: b.certificate)
    }
}
