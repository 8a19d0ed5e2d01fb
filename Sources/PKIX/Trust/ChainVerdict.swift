#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The verdict on a certificate.
package struct ChainVerdict: Hashable, Sendable {
    /// The reason for trusting the chain.
    package enum Trust: Hashable, Sendable {
        /// The chain ends at this trust anchor.
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
        package private(set) var status: Status
        /// Why the status is not `good`, and which lists and responses were not used.
        package private(set) var problems: [Problem]
        /// The indices in the chain of the certificates whose status is unknown.
        package private(set) var unknownPlaces: [Int]
        /// Whether the first certificate of the chain is revoked.
        let isFirstRevoked: Bool
        /// False if a list was rejected as forged or unreadable, or a response in the message as unusable or as one of too
        /// many. If libcrypto ran out of memory, intact data may also have been rejected. With the policy `hard`,
        /// `unreadableLists` of the store do not matter here, because they are errors. `isCutShort` covers data that was not
        /// read because of a limit.
        let usesAllEvidence: Bool
        /// Whether some lists or responses were not read, because that takes too long or there are too many lists. They might
        /// revoke a certificate, so the chain must not be used even if an unknown status is accepted.
        package private(set) var isCutShort: Bool

        /// Marks the status of the first certificate, which is not revoked, as unknown, because the budget did not suffice to
        /// read the revocation data of all its issuers.
        mutating func markFirstUnknown() {
            if status == .good { status = .unknown }
            isCutShort = true
            if !unknownPlaces.contains(0) { unknownPlaces.insert(0, at: 0) }
            let text = "finding out whether any issuer of the certificate revoked it takes too long"
            problems = (problems.filter { $0.kind != .revocationUnknown } + [Problem(.revocationUnknown, text)])
        }
    }

    /// Whether the chain's certificates are valid at the validation time.
    package enum Validity: Hashable, Sendable {
        /// The validation time is within the validity periods of all certificates.
        case current
        /// At least one certificate has expired.
        case ended
        /// No certificate has expired, but at least one is not valid yet.
        case notYet
    }

    /// Why a better verdict may be right.
    package enum Incompleteness: Hashable, Sendable {
        /// The check ended early because it takes too long. A chain to a trust anchor may exist although none was found, and
        /// the certificate may be revoked although no data that was read says so.
        case takesTooLong
        /// A file of the system's trust anchors cannot be read. It may have the anchor of a better chain.
        case anchorUnreadable
    }

    /// The chain as far as it was built, beginning with the judged certificate.
    package let certificates: [Certificate]
    /// Why the chain is trusted; nil if the chain is not trusted.
    package let trust: Trust?
    /// The problems of the chain, except problems of time and revocation.
    package private(set) var problems: [Problem]
    /// The problems of certificates that were not valid at the validation time.
    package let timeProblems: [Problem]
    /// The validity at the validation time.
    package let validity: Validity
    /// The revocation status; nil if revocation was not checked.
    package internal(set) var revocation: Revocation?
    /// Why a better chain may exist; nil if the search for it was complete.
    private(set) var incompleteSearch: Incompleteness?
    /// The problem of a file of the system's trust anchors that cannot be read; nil if there is none.
    package private(set) var unreadableAnchor: Problem?
    /// False if libcrypto had to check the chain, but did not check all of it.
    let isChecked: Bool
    /// Whether a key in the chain is weak (`PublicKeyAlgorithm.isWeak`), or a signature in the chain uses SHA-1. For a pinned
    /// certificate, only its own key is considered.
    package let isWeak: Bool

    /// Whether all evidence was used, so that another check would find nothing more.
    var usesAllEvidence: Bool { isChecked && revocation?.usesAllEvidence != false && incompleteness == nil }

    /// Why a better verdict may be right; nil if the check was complete.
    package var incompleteness: Incompleteness? {
        incompleteSearch ?? (revocation?.isCutShort == true ? .takesTooLong : nil)
    }

    /// Notes that the search for a better chain ended early because it takes too long.
    mutating func noteEndOfSearch() { incompleteSearch = .takesTooLong }

    /// Notes that the file at `path`, which may have the anchor of a better chain, cannot be read.
    mutating func noteUnreadableAnchor(_ path: String) {
        incompleteSearch = .anchorUnreadable
        guard let place = problems.firstIndex(where: { $0.kind == .chainNoAnchor }) else { return }
        let problem = Problem(.chainNotChecked, "\(path): the system's trust anchor cannot be read")
        problems[place] = problem
        unreadableAnchor = problem
    }

    /// Whether the chain leads to a trust anchor or a pinned certificate, and has no errors except those of time and
    /// revocation.
    package var isTrusted: Bool { trust != nil && !problems.contains { $0.level == .error } }

    /// The lowest certificate of the chain whose revocation status is unknown; nil if there is none, or if revocation was not
    /// checked.
    package var unknownRevocation: Certificate? {
        revocation?.unknownPlaces.min().flatMap { certificates.indices.contains($0) ? certificates[$0] : nil }
    }

    /// Whether another path could be better: this one has an error, or depends on a weak algorithm.
    var hasFlaw: Bool { faults > 0 || isWeak }

    /// Whether this verdict on one path is better than that on another.
    func isBetter(than other: ChainVerdict) -> Bool {
        faults == other.faults ? !isWeak && other.isWeak : faults < other.faults
    }

    /// The number of errors in trust, validity and revocation together.
    var faults: Int {
        (problems + timeProblems + (revocation?.problems ?? [])).count { $0.level == .error }
    }
}
