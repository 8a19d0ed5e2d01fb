package import Foundation
package import InternetMessage
package import PKIX

/// The store as it is at one moment, for what must fit together: rules, accounts, keys, certificates.
///
/// It lives as long as the closure that `Store.read` calls with it; what is needed later is taken out as values.
package struct StoreSnapshot {
    let database: SQLDatabase

    /// A number that every transaction raises that changes accounts, rules, settings, recipients, anchors or answers of responders.
    /// Transactions that only store dates of last use, verdicts or deliveries leave it.
    package func changeCount() throws -> Int64 { try ChangeCounter.value(in: database) }

    /// The account that mail of `address` belongs to; nil if there is none.
    package func account(for address: EmailAddress) throws -> Account? {
        try AccountRecord.id(sendingAs: address, in: database).map { try AccountRecord.account($0, in: database) }
    }

    /// What `certificate`, which is to sign mail, has to do with the mail's author.
    package func match(
        of certificate: Certificate,
        with author: EmailAddress
    ) throws -> IdentitySelection.AuthorMatch {
        IdentitySelection.match(of: certificate, with: author, in: try account(for: author)?.identities ?? [])
    }

    /// The account that has the whole domain of `address` as an alias; nil if there is none.
    package func account(forDomainOf address: EmailAddress) throws -> Account? {
        try AccountRecord.id(forDomainOf: address, in: database).map { try AccountRecord.account($0, in: database) }
    }

    /// The rules that mail from `senders` to `recipients` can fall under.
    package func rules(
        forSenders senders: [EmailAddress],
        recipients: [EmailAddress],
        kind: Policy.Kind? = nil
    ) throws -> [Policy.Rule] {
        try PolicyStore.rules(forSenders: senders, recipients: recipients, kind: kind, in: database)
    }

    /// The key of `certificate` as the store keeps it, for `AccountStore.open`; nil if the store does not have it.
    package func sealedIdentity(_ certificate: Certificate) throws -> SealedIdentity? {
        let keys = try SealedKeys(certificates: [certificate], in: database)
        return keys.certificates.isEmpty ? nil : SealedIdentity(keys: keys)
    }

    /// The known faults of `certificates`, which could replace each other.
    ///
    /// - Parameter options: whether revocation counts, and lists in addition to those of the store.
    package func verdicts(
        on certificates: [Certificate],
        at time: Date,
        under options: ValidationOptions
    ) throws -> CertificateVerdicts {
        try CertificateVerdicts(on: [certificates], at: time, under: options, in: database)
    }

    /// The CA certificates above `certificate` that the store knows, nearest first, without roots.
    package func chain(above certificate: Certificate) throws -> [Certificate] {
        try Authorities(above: [certificate], in: database).all.filter { !$0.isSelfIssued }
    }

    /// Everything that the choice for each of `addresses` depends on.
    ///
    /// - Parameter found: what other sources than the registry have.
    func evidence(
        for addresses: [AddressScope],
        _ found: [FoundCertificate],
        systemAnchors: Bool
    ) throws -> RecipientEvidence {
        try RecipientEvidence(for: addresses, found, systemAnchors: systemAnchors, in: database)
    }
}

extension Store {
    /// Lets `body` look at the store as of one moment.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try await database.read { try body(StoreSnapshot(database: $0)) }
    }
}
