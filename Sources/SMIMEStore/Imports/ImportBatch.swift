package import InternetMessage
package import PKIX

/// Everything one command brings into the store, stored in one transaction.
package struct ImportBatch: Sendable {
    /// A key and its certificate, for one or more accounts. Another certificate's key is refused, and one for no account.
    package struct IdentityItem: Sendable {
        /// The key, which is sealed before it is stored, and the certificate about it.
        package let identity: Identity
        /// The accounts that get it, at least one, made if they do not exist.
        package let accounts: [EmailAddress]
        /// Whether the accounts were named by hand instead of by the certificate.
        package let isAssigned: Bool

        package init(_ identity: Identity, accounts: [EmailAddress], isAssigned: Bool) {
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

    /// Another person's certificate, for the given addresses or domains; rejected without any.
    package struct RecipientItem: Sendable {
        /// What mail to `addresses` is encrypted to.
        package let certificate: Certificate
        /// The addresses to use it for; the certificate need not name them.
        package let addresses: [AddressScope]
        /// Where it comes from.
        package let source: KnownRecipient.Source
        /// Whether it is believed without a chain from now on.
        package let isPinned: Bool

        package init(
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
    package struct ResponseItem: Sendable {
        /// The `nameDigest` of the certificate that it is about.
        package let certificate: Fingerprint
        /// The answer, whose signature was checked.
        package let response: OCSPResponse
        /// From when to when it holds.
        package let lifetime: OCSPResponse.Lifetime

        package init(certificate: Fingerprint, response: OCSPResponse, lifetime: OCSPResponse.Lifetime) {
            self.certificate = certificate
            self.response = response
            self.lifetime = lifetime
        }
    }

    /// Keys of ours with their certificates.
    package var identities: [IdentityItem] = []
    /// Other people's certificates.
    package var recipients: [RecipientItem] = []
    /// Authorities that help to build chains and are not trusted.
    package var intermediates: [Certificate] = []
    /// Certificates that are trusted from now on.
    package var anchors: [Certificate] = []
    /// Revocation lists with unverified signatures; they replace no other list.
    package var crls: [CertificateList] = []
    /// Lists from their issuers' services whose signatures were checked; lists that they replace are deleted.
    package var fetchedLists: [CertificateList] = []
    /// Answers of responders, whose signatures were checked.
    package var responses: [ResponseItem] = []
    /// Services, as host and port, that were asked and did not answer in time; it is remembered for some minutes.
    package var silentServices: [String] = []
    /// Services that answered, whose records of silence are deleted.
    package var answeringServices: [String] = []

    package init() {}

    /// Whether there is nothing to store.
    package var isEmpty: Bool {
        identities.isEmpty && recipients.isEmpty && intermediates.isEmpty && anchors.isEmpty && crls.isEmpty
            && fetchedLists.isEmpty && responses.isEmpty && silentServices.isEmpty && answeringServices.isEmpty
    }
}
