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
        /// It would do, but another one is pinned or newer.
        case superseded
        /// The certificate does not allow the purpose.
        case wrongUsage = "wrong-usage"

        /// As it stands behind a number of identities.
        var words: String {
            switch self {
            case .current, .superseded: "usable"
            case .expired: "expired"
            case .notYetValid: "not valid yet"
            case .otherAddress: "with a certificate for other addresses only"
            case .wrongUsage: "with a certificate that does not allow it"
            }
        }
    }

    /// The standing of each of `identities` for mail of `address` at the time `time`; at most one is current.
    ///
    /// Usable is what is valid, allows the purpose, and names the address or was assigned by hand. Of those a pinned
    /// one goes first, then the one that became valid last.
    public static func judge(
        _ identities: [Identity],
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date
    ) -> [Standing] {
        var standings = identities.map { standing(of: $0, for: address, purpose: purpose, at: time) }
        let usable = identities.indices.filter { standings[$0] == .superseded }
        if let best = usable.max(by: { precedes(identities[$1], identities[$0]) }) { standings[best] = .current }
        return standings
    }

    /// The identity that `judge` finds current.
    public static func current(
        of identities: [Identity],
        for address: EmailAddress,
        purpose: Purpose,
        at time: Date
    ) -> Identity? {
        let standings = judge(identities, for: address, purpose: purpose, at: time)
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
