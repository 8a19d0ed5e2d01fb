public import InternetMessage
public import PKIX

/// Everything one command brings into the store, stored in one transaction.
public struct ImportBatch: Sendable {
    /// A key and its certificate, for one or more accounts. Another certificate's key is refused, and one for no account.
    public struct IdentityItem: Sendable {
        /// The key, which is sealed before it is stored, and the certificate about it.
        public let identity: Identity
        /// The accounts that get it, at least one, made if they do not exist.
        public let accounts: [EmailAddress]
        /// Whether the accounts were named by hand instead of by the certificate.
        public let isAssigned: Bool

        public init(_ identity: Identity, accounts: [EmailAddress], isAssigned: Bool) {
            self.identity = identity
            self.accounts = accounts
            self.isAssigned = isAssigned
        }

        /// Refuses what could never be used.
        ///
        /// - Throws: `.unmatchedKey`, `.noAccount`
        func check() throws(KeystoreError) {
            let certificate = identity.certificate
            guard identity.key.belongs(to: certificate) else { throw .unmatchedKey(certificate.fingerprint) }
            guard !accounts.isEmpty else { throw .noAccount(certificate.fingerprint) }
        }
    }

    /// Somebody's certificate, for the addresses or domains it is to be used for; refused for none.
    public struct RecipientItem: Sendable {
        /// What mail to `addresses` is encrypted to.
        public let certificate: Certificate
        /// Whom it is for; it need not name them.
        public let addresses: [AddressScope]
        /// Where it comes from.
        public let source: KnownRecipient.Source
        /// Whether it is believed without a chain from now on.
        public let isPinned: Bool

        public init(
            certificate: Certificate,
            addresses: [AddressScope],
            source: KnownRecipient.Source = .imported,
            isPinned: Bool = false
        ) {
            self.certificate = certificate
            self.addresses = addresses
            self.source = source
            self.isPinned = isPinned
        }

        /// Refuses what could never be used.
        ///
        /// - Throws: `.noAddress`
        func check() throws(KeystoreError) {
            guard !addresses.isEmpty else { throw .noAddress(certificate.fingerprint) }
        }
    }

    /// What a responder said about a certificate.
    public struct ResponseItem: Sendable {
        /// The `nameDigest` of the certificate that it is about.
        public let certificate: Fingerprint
        /// The answer, whose signature was checked.
        public let response: OCSPResponse
        /// From when to when it holds.
        public let lifetime: OCSPResponse.Lifetime

        public init(certificate: Fingerprint, response: OCSPResponse, lifetime: OCSPResponse.Lifetime) {
            self.certificate = certificate
            self.response = response
            self.lifetime = lifetime
        }
    }

    /// Keys of ours with their certificates.
    public var identities: [IdentityItem] = []
    /// Other people's certificates.
    public var recipients: [RecipientItem] = []
    /// Authorities that help to build chains and are not trusted.
    public var intermediates: [Certificate] = []
    /// Certificates that are trusted from now on.
    public var anchors: [Certificate] = []
    /// Revocation lists whose signatures nobody has checked; they take no other's place.
    public var crls: [CertificateList] = []
    /// Lists from their issuers' services whose signatures were checked; those that they take the place of are forgotten.
    public var fetchedLists: [CertificateList] = []
    /// Answers of responders, whose signatures were checked.
    public var responses: [ResponseItem] = []
    /// Services, as host and port, that were asked and did not answer in time; it is remembered for some minutes.
    public var silentServices: [String] = []
    /// Services that did, of which that need no longer be remembered.
    public var answeringServices: [String] = []

    public init() {}

    /// Whether there is nothing to store.
    public var isEmpty: Bool {
        identities.isEmpty && recipients.isEmpty && intermediates.isEmpty && anchors.isEmpty && crls.isEmpty
            && fetchedLists.isEmpty && responses.isEmpty && silentServices.isEmpty && answeringServices.isEmpty
    }
}
