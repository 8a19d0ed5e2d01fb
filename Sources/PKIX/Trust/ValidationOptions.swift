/// How strictly certificates are judged, apart from the question which certificates are trusted.
public struct ValidationOptions: Hashable, Sendable {
    /// How the revocation status affects the verdict.
    public var revocation: RevocationPolicy
    /// The requirements for the chain's certificate policies.
    package var policies: CertificatePolicies
    /// Revocation lists in addition to those of the store.
    package var certificateLists: [CertificateList] = []
    /// Places whose revocation lists are unreadable, each described by a sentence; every verdict repeats them.
    package var unreadableLists: [String] = []
    /// OCSP responses in addition to those in messages.
    package var responses: [OCSPResponse] = []
    /// Rules whose violation is a warning; nil for none.
    package var profile: CertificateProfile?

    /// - Parameter revocation: how the revocation status affects the verdict.
    public init(revocation: RevocationPolicy) {
        self.init(revocation: revocation, policies: CertificatePolicies())
    }

    package init(
        revocation: RevocationPolicy = .soft,
        policies: CertificatePolicies = CertificatePolicies(),
        profile: CertificateProfile? = nil
    ) {
        self.revocation = revocation
        self.policies = policies
        self.profile = profile
    }
}

extension TrustStore {
    /// The same store with other `options`.
    package func judging(by options: ValidationOptions) -> TrustStore {
        var store = self
        store.options = options
        return store
    }
}
