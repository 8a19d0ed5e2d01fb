#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The trusted certificates, and the certificates and lists to build chains from. `PathValidator` judges by this data.
///
/// It knows no clock and no hidden store: the time is an argument of `judge`, and the system's anchors are used only
/// if `systemAnchors` says where they are.
public struct TrustStore: Hashable, Sendable {
    /// Certificates that end a chain. An intermediate given here is an anchor, too.
    public var anchors: [Certificate]
    /// The keys whose end-entity certificates are trusted by themselves.
    package var pinned: Set<PublicKeyDigest>
    /// The certificates with which the keys in `pinned` were pinned, as far as they are known. If one of them is revoked, the pin
    /// ends for all certificates of its key. Other certificates of the key need a valid signature of their issuer.
    package var pinnedCertificates: Set<Certificate> = []
    /// The keys whose certificates are never trusted, whatever chain they have.
    package var distrusted: Set<PublicKeyDigest> = []
    /// The addresses for which a key was pinned or distrusted, in a comparable form. A key that is not here was pinned or
    /// distrusted for every address of its certificates. Callers that know the addresses use `speaking(for:)`.
    package var scopes: [PublicKeyDigest: Scopes] = [:]
    /// Certificates of authorities that may help to reach an anchor; not trusted.
    public var intermediates: [Certificate]
    /// Revocation lists at hand.
    public var certificateLists: [CertificateList]
    /// Revocation lists, and folders or files of them, that cannot be read, each as a sentence: every verdict repeats them, and is not `good`.
    package var unreadableLists: [String] = []
    /// Earlier answers of responders, by the `nameDigest` of the certificate; they are verified again when they are used.
    package var responses: [Fingerprint: OCSPResponse] = [:]
    /// The folder of the system's anchors; nil if these are not trusted.
    public var systemAnchors: SystemAnchors?
    /// How strictly certificates are judged.
    public var options = ValidationOptions()
    /// What the certificates of a chain must be meant for.
    public var usage = Usage.mail

    /// - Parameter anchors: certificates that end a chain.
    public init(anchors: [Certificate]) { self.init(anchors: anchors, pinned: []) }

    /// - Parameters:
    ///   - anchors: certificates that end a chain.
    ///   - intermediates: certificates of authorities that may help to reach an anchor; not trusted.
    ///   - systemAnchors: whether the roots that the system trusts end a chain, too.
    public init(anchors: [Certificate], intermediates: [Certificate], systemAnchors: Bool) {
        self.init(
            anchors: anchors,
            pinned: [],
            intermediates: intermediates,
            systemAnchors: systemAnchors ? SystemAnchors() : nil
        )
    }

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

    /// The same store, which trusts `certificates` without a chain: their fingerprints were compared.
    public func pinning(_ certificates: Certificate...) -> TrustStore {
        var store = self
        store.pinned.formUnion(certificates.map(\.publicKeyDigest))
        store.pinnedCertificates.formUnion(certificates)
        return store
    }

    /// The same store, which never trusts a certificate with the key of one of `certificates`.
    public func distrusting(_ certificates: Certificate...) -> TrustStore {
        var store = self
        store.distrusted.formUnion(certificates.map(\.publicKeyDigest))
        return store
    }

    /// The names that a key was pinned for, and those that it was distrusted for.
    package struct Scopes: Hashable, Sendable {
        /// The names for which a person compared its fingerprint.
        package var pinned: Set<String>
        /// The names for which it was distrusted.
        package var distrusted: Set<String>

        package init(pinned: Set<String> = [], distrusted: Set<String> = []) {
            self.pinned = pinned
            self.distrusted = distrusted
        }
    }

    /// This trust store with the pins and distrust for one of `names` alone: a user who compared a fingerprint for one address did not
    /// accept the other addresses in the certificate.
    package func speaking(for names: Set<String>) -> TrustStore {
        var store = self
        for (key, scopes) in scopes {
            if scopes.pinned.isDisjoint(with: names) { store.pinned.remove(key) }
            if scopes.distrusted.isDisjoint(with: names) { store.distrusted.remove(key) }
        }
        return store
    }

    /// This trust store for a signature by `certificate` over something that names no sender, as a commit or a file.
    ///
    /// The reader is shown the names in the certificate, so a pin counts only for the pinned certificate itself, and only if it was pinned
    /// for every address in it: the holder of a pinned key can get certificates for it in any name.
    ///
    /// - Parameter names: for each address in the certificate the names that stand for it.
    package func speaking(by certificate: Certificate, for names: [Set<String>]) -> TrustStore {
        let key = certificate.publicKeyDigest
        let isForAll = scopes[key].map { scopes in names.allSatisfy { !$0.isDisjoint(with: scopes.pinned) } } ?? true
        guard !isForAll || !pinnedCertificates.contains(certificate) else { return self }
        var store = self
        store.pinned.remove(key)
        return store
    }

    /// Looks for a chain from `certificate` to an anchor and says what is wrong with the best one, within a budget of its
    /// own.
    ///
    /// - Parameters:
    ///   - extra: certificates that came with the message, in any order; never trusted.
    ///   - extraLists: revocation lists that came with the message.
    ///   - responses: answers of responders that came with the message.
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

    /// How detailed a verdict is.
    package enum Detail: Sendable {
        /// Everything.
        case everything
        /// Trust, time and revocation. For an untrusted chain not every problem is searched for, which takes longer than the
        /// rest.
        case trust
    }

    /// The same with this detail.
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
