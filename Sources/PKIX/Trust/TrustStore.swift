#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What is trusted, and what is at hand to build chains from: data, by which `PathValidator` judges.
///
/// It knows no clock and no hidden store: the time is an argument of `judge`, and the system's anchors are used only
/// if `systemAnchors` says where they are.
public struct TrustStore: Hashable, Sendable {
    /// Certificates that end a chain. An intermediate given here is an anchor, too.
    public var anchors: [Certificate]
    /// The keys whose end-entity certificates are trusted by themselves.
    package var pinned: Set<PublicKeyDigest>
    /// The certificates that the keys in `pinned` were pinned with, as far as they are known. A pin ends for all certificates of
    /// its key when one of these is revoked, and a certificate that is not among them must not be a forgery.
    package var pinnedCertificates: Set<Certificate> = []
    /// The keys whose certificates are never trusted, whatever chain they have.
    package var distrusted: Set<PublicKeyDigest> = []
    /// Whom a key was pinned or distrusted for, as names that compare equal; one that is not here was for
    /// everybody its certificates name. Callers that know the names use `speaking(for:)`.
    package var scopes: [PublicKeyDigest: Scopes] = [:]
    /// Certificates of authorities that may help to reach an anchor; not trusted.
    public var intermediates: [Certificate]
    /// Revocation lists at hand.
    public var certificateLists: [CertificateList]
    /// Where more revocation lists should lie that cannot be read, each as a sentence; each verdict repeats them.
    package var unreadableLists: [String] = []
    /// What responders said when they were asked before, by the `nameDigest` of the certificate it is about; checked again
    /// when it is used.
    package var responses: [Fingerprint: OCSPResponse] = [:]
    /// Where the system keeps its anchors; nil leaves them out.
    public var systemAnchors: SystemAnchors?
    /// How strictly certificates are judged.
    public var options = ValidationOptions()
    /// What the certificates of a chain must be meant for.
    public var usage = Usage.mail

    /// - Parameter anchors: certificates that end a chain.
    public init(anchors: [Certificate]) { self.init(anchors: anchors, pinned: []) }

    package init(
        anchors: [Certificate] = [],
        pinned: Set<PublicKeyDigest> = [],
        intermediates: [Certificate] = [],
        certificateLists: [CertificateList] = [],
        systemAnchors: SystemAnchors? = nil
    ) {
        self.anchors = anchors
        self.pinned = pinned
        self.intermediates = intermediates
        self.certificateLists = certificateLists
        self.systemAnchors = systemAnchors
    }

    /// The names that a key was pinned for, and those that it was distrusted for.
    package struct Scopes: Hashable, Sendable {
        /// The names for which a person compared its fingerprint.
        package var pinned: Set<String>
        /// Whom it must not be taken for.
        package var distrusted: Set<String>

        package init(pinned: Set<String> = [], distrusted: Set<String> = []) {
            self.pinned = pinned
            self.distrusted = distrusted
        }
    }

    /// The same with the pins and the distrust that are about one of `names`: a person who compared a fingerprint for one
    /// address did not accept all the others that the certificate claims.
    package func speaking(for names: Set<String>) -> TrustStore {
        var store = self
        for (key, scopes) in scopes {
            if scopes.pinned.isDisjoint(with: names) { store.pinned.remove(key) }
            if scopes.distrusted.isDisjoint(with: names) { store.distrusted.remove(key) }
        }
        return store
    }

    /// Looks for a chain from `certificate` to an anchor and says what is wrong with the best one, within a budget of its
    /// own.
    ///
    /// - Parameters:
    ///   - extra: certificates that came with the message, in any order; never trusted.
    ///   - extraLists: revocation lists that came with the message.
    ///   - responses: what responders said, as it came with the message.
    ///   - date: the time at which everything must be valid.
    package func judge(
        _ certificate: Certificate,
        extra: [Certificate] = [],
        extraLists: [CertificateList] = [],
        responses: [OCSPResponse] = [],
        purpose: Certificate.KeyPurpose,
        at date: Date
    ) -> ChainVerdict {
        judge(
            certificate,
            extra: extra,
            extraLists: extraLists,
            responses: responses,
            purpose: purpose,
            at: date,
            detail: .everything
        )
    }

    /// How much of a verdict is worked out.
    package enum Detail: Sendable {
        /// Everything.
        case everything
        /// Trust, time and revocation. Of a chain that is not trusted in any case, not each problem: finding those takes longer
        /// than all the rest.
        case trust
    }

    /// The same, with as much detail as is asked for.
    package func judge(
        _ certificate: Certificate,
        extra: [Certificate] = [],
        extraLists: [CertificateList] = [],
        responses: [OCSPResponse] = [],
        purpose: Certificate.KeyPurpose,
        at date: Date,
        detail: Detail
    ) -> ChainVerdict {
        PathValidator(self).judge(
            certificate,
            extra: extra,
            extraLists: extraLists,
            responses: responses,
            purpose: purpose,
            at: date,
            detail: detail
        )
    }
}
