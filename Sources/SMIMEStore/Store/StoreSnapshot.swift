package import Foundation
package import InternetMessage
package import PKIX

/// A consistent state of the store, for data that must match: rules, accounts, private keys, certificates.
///
/// Use it only within the closure to which `Store.read` passes it. Copy the values that are needed later.
package struct StoreSnapshot {
    let database: SQLDatabase

    /// The change counter. A transaction raises the counter if it changes accounts, rules, settings, recipients, CA
    /// certificates or revocation lists, or stores an OCSP response, but not in the cases that `ChangeCounter` lists,
    /// such as dates of last use, verdicts and deliveries.
    package func changeCount() throws -> Int64 { try ChangeCounter.value(in: database) }

    /// The account that sends mail from `address`; nil if there is none.
    package func account(for address: EmailAddress) throws -> Account? {
        try AccountRecord.id(sendingAs: address, in: database).map { try AccountRecord.account($0, in: database) }
    }

    /// How `certificate`, which is to sign mail, is related to the mail's author.
    package func match(
        of certificate: Certificate,
        with author: EmailAddress
    ) throws -> IdentitySelection.AuthorMatch {
        // As a rule the certificate names the author, and the account is not needed.
        if certificate.names(author) { return .named }
        return IdentitySelection.match(of: certificate, with: author, in: try account(for: author)?.identities ?? [])
    }

    /// The account that has the whole domain of `address` as an alias; nil if there is none.
    package func account(forDomainOf address: EmailAddress) throws -> Account? {
        try AccountRecord.id(forDomainOf: address, in: database).map { try AccountRecord.account($0, in: database) }
    }

    /// The rules that can apply to mail from `senders` to `recipients`.
    package func rules(
        forSenders senders: [EmailAddress],
        recipients: [EmailAddress],
        kind: Policy.Kind? = nil
    ) throws -> [Policy.Rule] {
        try PolicyStore.rules(forSenders: senders, recipients: recipients, kind: kind, in: database)
    }

    /// The sealed private key of `certificate`, for `AccountStore.open`; nil if the store does not have it.
    package func sealedIdentity(_ certificate: Certificate) throws -> SealedIdentity? {
        let keys = try SealedKeys(certificates: [certificate], in: database)
        return keys.certificates.isEmpty ? nil : SealedIdentity(keys: keys)
    }

    /// Which of `certificates` are revoked or untrusted. They must be the certificates from which one account can choose.
    ///
    /// - Parameter options: whether revocation is checked, and revocation lists in addition to those of the store.
    package func verdicts(
        on certificates: [Certificate],
        at time: Date,
        under options: ValidationOptions
    ) throws -> CertificateVerdicts {
        try CertificateVerdicts(on: [certificates], at: time, under: options, in: database)
    }

    /// The issuing CA certificates of `certificate` that the store knows, nearest first, without self-issued ones.
    package func chain(above certificate: Certificate) throws -> [Certificate] {
        try Authorities.issuers(of: certificate, in: database).filter { !$0.isSelfIssued }
    }

    /// The evidence for choosing a certificate for each of `addresses`.
    ///
    /// - Parameter found: the certificates from other sources than the registry.
    func evidence(
        for addresses: [AddressScope],
        _ found: [FoundCertificate],
        systemAnchors: Bool
    ) throws -> RecipientEvidence {
        try RecipientEvidence(for: addresses, found, systemAnchors: systemAnchors, in: database)
    }
}

extension Store {
    /// Passes a consistent state of the store to `body`.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try await database.read { try body(StoreSnapshot(database: $0)) }
    }
}
