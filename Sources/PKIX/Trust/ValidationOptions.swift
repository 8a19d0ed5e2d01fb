/// How strictly certificates are judged. Which certificates are trusted is not part of the options.
public struct ValidationOptions: Hashable, Sendable {
    /// How the revocation status affects the verdict.
    public var revocation: RevocationPolicy
    /// The requirements for the chain's certificate policies.
    package var policies: CertificatePolicies
    /// Revocation lists in addition to those of the store.
    package var certificateLists: [CertificateList] = []
    /// Sentences about unreadable revocation lists, and about unreadable files or folders of lists, as in
    /// `TrustStore.unreadableLists`.
    package var unreadableLists: [String] = []
    /// OCSP responses in addition to those of the store and of messages.
    package var responses: [OCSPResponse] = []
    /// Additional rules; a violation is a warning. Nil if there are no additional rules.
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
    /// A store with other `options`.
    package func judging(by options: ValidationOptions) -> TrustStore {
        var store = self
        store.options = options
        return store
    }
}
