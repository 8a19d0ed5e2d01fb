/// The verdict on a certificate.
package struct ChainVerdict: Hashable, Sendable {
    /// Why the chain may be trusted.
    package enum Trust: Hashable, Sendable {
        /// It ends at this anchor.
        case anchor(Fingerprint)
        /// The certificate itself is pinned.
        case pinned
    }

    /// The revocation status of a chain.
    package struct Revocation: Hashable, Sendable {
        /// The whole chain's state.
        package enum Status: String, Hashable, Sendable {
            case good
            case revoked
            /// The status of some certificate of the chain is unknown.
            case unknown
        }
        /// The status of all certificates of the chain together.
        package let status: Status
        /// Why it is not good; empty where it is.
        package let problems: [Problem]
        /// The places in the chain of the certificates that nothing is known of.
        package let unknownPlaces: [Int]
        /// Whether all lists and responses counted: none was left out as forged, unreadable or unusable. Such data may
        /// also have been damaged on its way to libcrypto.
        let usesAllEvidence: Bool
    }

    /// The validity of the certificates of a chain at the time of judgement.
    package enum Validity: Hashable, Sendable {
        /// All are valid.
        case current
        /// At least one has expired.
        case ended
        /// None has expired, and at least one is not valid yet.
        case notYet
    }

    /// The chain as far as it goes, the judged certificate first.
    package let certificates: [Certificate]
    /// Nil if nothing makes the chain trusted.
    package let trust: Trust?
    /// The problems of the chain, apart from time and revocation.
    package let problems: [Problem]
    /// Which of its certificates were not valid at the time.
    package let timeProblems: [Problem]
    /// The same in a word.
    package let validity: Validity
    /// Nil if revocation was not checked.
    package let revocation: Revocation?
    /// Whether libcrypto looked at the whole chain, where that was asked for.
    let isChecked: Bool
    /// Whether a key of the chain is too short, or a signature in it uses SHA-1.
    package let isWeak: Bool

    /// Whether all evidence was used, so that a later check finds nothing more.
    var usesAllEvidence: Bool { isChecked && revocation?.usesAllEvidence != false }

    /// Whether the chain leads to an anchor or a pin and has no error except in time and revocation.
    package var isTrusted: Bool { trust != nil && !problems.contains { $0.level == .error } }

    /// The number of errors on all three axes.
    var faults: Int {
        (problems + timeProblems + (revocation?.problems ?? [])).count { $0.level == .error }
    }
}
