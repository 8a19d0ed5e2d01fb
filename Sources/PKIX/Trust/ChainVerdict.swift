/// The verdict on a certificate.
package struct ChainVerdict: Hashable, Sendable {
    /// Why the chain is trusted.
    package enum Trust: Hashable, Sendable {
        /// The chain ends at this anchor.
        case anchor(Fingerprint)
        /// The certificate itself is pinned.
        case pinned
    }

    /// The revocation status of a chain.
    package struct Revocation: Hashable, Sendable {
        /// The revocation status of the whole chain.
        package enum Status: String, Hashable, Sendable {
            case good
            case revoked
            /// The status of at least one certificate is unknown.
            case unknown
        }
        /// The status of all certificates of the chain together.
        package let status: Status
        /// Why the status is not `good`; empty if it is.
        package let problems: [Problem]
        /// The indices in the chain of the certificates whose status is unknown.
        package let unknownPlaces: [Int]
        /// Whether all lists and responses were used, that is, none was left out as forged, unreadable or unusable. If
        /// libcrypto ran out of memory, intact data may be left out as well.
        let usesAllEvidence: Bool
    }

    /// The validity of the chain's certificates at the time of judgement.
    package enum Validity: Hashable, Sendable {
        /// All certificates are valid.
        case current
        /// At least one certificate has expired.
        case ended
        /// No certificate has expired, but at least one is not valid yet.
        case notYet
    }

    /// The chain as far as it was found, beginning with the judged certificate.
    package let certificates: [Certificate]
    /// Why the chain is trusted; nil if it is not.
    package let trust: Trust?
    /// The problems of the chain, except those of time and revocation.
    package let problems: [Problem]
    /// The certificates that were not valid at the time of judgement.
    package let timeProblems: [Problem]
    /// The validity at the time of judgement.
    package let validity: Validity
    /// The revocation status; nil if revocation was not checked.
    package let revocation: Revocation?
    /// Whether libcrypto checked the whole chain, if that was requested.
    let isChecked: Bool
    /// Whether a key of the chain is too short, or a signature in it uses SHA-1.
    package let isWeak: Bool

    /// Whether all evidence was used, so that a later check would find nothing more.
    var usesAllEvidence: Bool { isChecked && revocation?.usesAllEvidence != false }

    /// Whether the chain leads to an anchor or a pin and has no errors except those of time and revocation.
    package var isTrusted: Bool { trust != nil && !problems.contains { $0.level == .error } }

    /// The number of errors in trust, validity and revocation together.
    var faults: Int {
        (problems + timeProblems + (revocation?.problems ?? [])).count { $0.level == .error }
    }
}
