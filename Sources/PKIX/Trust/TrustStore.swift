import LibCrypto
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Trusted certificates, and the certificates and lists for building chains. `PathValidator` judges certificates by this
/// data.
///
/// A trust store uses no hidden clock or store: the time is an argument of `judge`, and the system's trust anchors are used
/// only if `systemAnchors` names their folder.
public struct TrustStore: Hashable, Sendable {
    /// Certificates at which a chain may end. An intermediate certificate in this list is also a trust anchor.
    public var anchors: [Certificate]
    /// The keys for which a judged certificate is trusted without a chain.
    package var pinned: Set<PublicKeyDigest>
    /// The known certificates with which the keys in `pinned` were pinned. Other certificates of these keys need a valid
    /// signature if their issuer is known. They are not trusted because of the pin if one of the pinned certificates is
    /// revoked.
    package var pinnedCertificates: Set<Certificate> = []
    /// The keys whose certificates are never trusted, even with a valid chain.
    package var distrusted: Set<PublicKeyDigest> = []
    /// The addresses for which a key was pinned or distrusted, in a form for comparison. A key without an entry was pinned or
    /// distrusted for every address in its certificates. Callers that know the addresses use `restricted(to:)`.
    package var scopes: [PublicKeyDigest: Scopes] = [:]
    /// Certificates of authorities that may complete a chain. They are not trusted by themselves.
    public var intermediates: [Certificate]
    /// The available revocation lists.
    public var certificateLists: [CertificateList]
    /// The keys that are known to have signed lists of `certificateLists`, by the lists' fingerprints. The signatures of these
    /// lists are not verified with other keys.
    package var listSigners: [Fingerprint: PublicKeyDigest] = [:]
    /// Unreadable revocation lists, and unreadable folders or files of lists, each described by a sentence. If revocation is
    /// checked, every verdict reports all of these sentences, and its revocation status is not `good`.
    package var unreadableLists: [String] = []
    /// Earlier OCSP responses, by the certificate. The responses are verified again when they are used.
    package var responses: [OCSPResponse.Subject: OCSPResponse] = [:]
    /// The folder of the system's trust anchors; nil if the system's trust anchors are not trusted.
    public var systemAnchors: SystemAnchors?
    /// The validation options.
    public var options = ValidationOptions()
    /// The purpose that the certificates of a chain must have.
    public var usage = Usage.mail

    /// - Parameter anchors: certificates at which a chain may end.
    public init(anchors: [Certificate]) { self.init(anchors: anchors, pinned: []) }

    /// - Parameters:
    ///   - anchors: certificates at which a chain may end.
    ///   - intermediates: certificates of authorities that may complete a chain. They are not trusted by themselves.
    ///   - systemAnchors: whether a chain may also end at the system's trusted roots.
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

    /// Adds revocation lists that are not from the store's database. Their entries in `listSigners` are removed, because
    /// another program may have written these entries to the database.
    package mutating func add(_ lists: [CertificateList]) {
        certificateLists += lists
        for list in lists { listSigners[list.fingerprint] = nil }
    }

    /// A store that also trusts `certificates` without a chain, because the user compared their fingerprints.
    ///
    /// Another certificate of the same key, for example after a renewal, is also trusted without a chain, unless its signature
    /// is wrong or a pinned certificate of the key is known to be revoked.
    public func pinning(_ certificates: Certificate...) -> TrustStore {
        var store = self
        store.pinned.formUnion(certificates.map(\.publicKeyDigest))
        store.pinnedCertificates.formUnion(certificates)
        return store
    }

    /// A store that also distrusts all certificates of the keys of `certificates`.
    public func distrusting(_ certificates: Certificate...) -> TrustStore {
        var store = self
        store.distrusted.formUnion(certificates.map(\.publicKeyDigest))
        return store
    }

    /// The names for which a key was pinned, and those for which it was distrusted.
    package struct Scopes: Hashable, Sendable {
        /// The names for which a user compared the fingerprint of the key's certificate.
        package var pinned: Set<String>
        /// The names for which the key was distrusted.
        package var distrusted: Set<String>

        package init(pinned: Set<String> = [], distrusted: Set<String> = []) {
            self.pinned = pinned
            self.distrusted = distrusted
        }
    }

    /// A store that uses only the pins and distrust for `names`: a user who compared a fingerprint for one address did not
    /// accept the other addresses in the certificate.
    package func restricted(to names: Set<String>) -> TrustStore {
        var store = self
        for (key, scopes) in scopes {
            if scopes.pinned.isDisjoint(with: names) { store.pinned.remove(key) }
            if scopes.distrusted.isDisjoint(with: names) { store.distrusted.remove(key) }
        }
        return store
    }

    /// A store for data signed by `certificate` that has no sender, such as a commit or a file.
    ///
    /// The reader of the data sees the names in the certificate. The holder of a pinned key can get certificates for that key
    /// in any name. Therefore a pin applies only to the pinned certificate itself, and only if it was pinned for every
    /// address in it.
    ///
    /// - Parameter names: for each address in the certificate, the names under which the certificate may have been pinned.
    package func restricted(to names: [Set<String>], signedBy certificate: Certificate) -> TrustStore {
        let key = certificate.publicKeyDigest
        let isForAll = scopes[key].map { scopes in names.allSatisfy { !$0.isDisjoint(with: scopes.pinned) } } ?? true
        guard !isForAll || !pinnedCertificates.contains(certificate) else { return self }
        var store = self
        store.pinned.remove(key)
        return store
    }

    /// Builds chains from `certificate` to a trust anchor and reports the problems of the best chain, with a new budget.
    ///
    /// - Parameters:
    ///   - extra: certificates that came with the message, in any order; they are never trusted by themselves.
    ///   - extraLists: revocation lists that came with the message.
    ///   - responses: OCSP responses that came with the message.
    ///   - date: the time at which all certificates must be valid.
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

    /// How thorough a verdict is.
    package enum Detail: Sendable {
        /// All problems are reported.
        case everything
        /// Trust, validity and revocation are determined. For an untrusted chain, not all problems are reported, because
        /// finding them takes longer than everything else.
        case trust
    }

    /// Like `judge` without `detail`, with the given detail.
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

extension TrustStore {
    /// The purpose that certificates must have.
    @nonexhaustive
    public enum Usage: Hashable, Sendable {
        /// Any purpose: the extended key usage is ignored.
        case any
        /// The purpose with this dotted OID in the extended key usage, such as `1.3.6.1.5.5.7.3.3` for code signing (RFC 5280
        /// §4.2.1.12).
        case extendedKeyUsage(String)
        /// Mail (RFC 8550 §4.4.4).
        case mail
    }
}

extension Certificate {
    /// Whether the certificate allows `usage`: its extended key usage contains that usage or anyExtendedKeyUsage, or is
    /// absent.
    func admits(_ usage: TrustStore.Usage) -> Bool {
        switch usage {
        case .any: return true
        case .mail: return isForMail
        case .extendedKeyUsage(let identifier):
            guard let extendedKeyUsages else { return true }
            return extendedKeyUsages.contains(identifier) || extendedKeyUsages.contains("2.5.29.37.0")
        }
    }
}

/// A verdict, and whether it may be stored in the database.
package struct Judgement: Sendable {
    /// The verdict.
    package let verdict: ChainVerdict
    /// Whether the verdict may be stored. False if the search ended early, if libcrypto failed (perhaps because of too
    /// little memory), if not all evidence was used, or if the verdict comes from `PathValidator.judge`, which does not
    /// determine whether it may be stored.
    package let mayBeStored: Bool
}

extension TrustStore {
    /// The verdict on `certificate` according to the store's data alone.
    package func judgement(of certificate: Certificate, purpose: Certificate.KeyPurpose, at date: Date) -> Judgement {
        let key = VerdictCacheKey(
            store: self,
            certificate: certificate,
            extra: [],
            extraLists: [],
            responses: [],
            purpose: purpose
        )
        let isBrief = key.isBrief
        if isBrief, let known = key.known(at: date) { return known }
        let (validator, errors) = (PathValidator(self), OpenSSLError.occurrences)
        let (verdict, isSettled) = validator.judgeUncached(key, at: date, detail: .trust)
        let judgement = Judgement(
            verdict: verdict,
            mayBeStored: !validator.budget.isSpent && errors == OpenSSLError.occurrences && verdict.usesAllEvidence
        )
        if isBrief, isSettled, key.isSettled(by: verdict) { key.remember(judgement, at: date) }
        return judgement
    }
}

/// Keeps libcrypto's objects of revocation lists in memory, so that each list is parsed only once for many verdicts.
package final class ParsedLists: Sendable {
    private let lists: [CertificateList]
    private let objects = Mutex<[Handle<X509_CRL>]?>(nil)

    package init(_ lists: [CertificateList]) { self.lists = lists }

    /// Parses the lists. Later calls do nothing.
    package func parse() {
        objects.withLock { objects in
            guard objects == nil else { return }
            objects = lists.compactMap { try? $0.object() }
        }
    }
}
