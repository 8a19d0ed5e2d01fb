/// How strictly certificates are judged: the caller's requirements, apart from its trusted certificates.
public struct ValidationOptions: Hashable, Sendable {
    /// How much revocation counts.
    public var revocation: RevocationPolicy
    /// What is asked of the chain's certificate policies.
    package var policies: CertificatePolicies
    /// Revocation lists at hand beside those of the store.
    package var certificateLists: [CertificateList] = []
    /// Where more should lie that cannot be read, each as a sentence; each verdict repeats them.
    package var unreadableLists: [String] = []
    /// What responders said, beside what came with messages.
    package var responses: [OCSPResponse] = []
    /// Rules whose breach is a warning; nil for none.
    package var profile: CertificateProfile?

    /// - Parameter revocation: how much revocation counts.
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
    /// The same store, judging by `options`.
    package func judging(by options: ValidationOptions) -> TrustStore {
        var store = self
        store.options = options
        return store
    }
}
