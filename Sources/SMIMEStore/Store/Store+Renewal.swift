import Foundation
package import InternetMessage
package import PKIX

extension Store {
    /// The identities that result from those of `certificates` that renew a certificate of an account: they are for the
    /// same key.
    ///
    /// Such a certificate is added to accounts that have the private key: to those whose address or alias it names, and to
    /// those to which a user assigned the key with `--account`. Existing identities are left out.
    ///
    /// - Parameter account: the only account to use, whatever addresses the certificates name; nil selects the accounts as
    ///   described above.
    /// - Throws: what opening the store key throws, if any certificate is a renewal.
    package func renewals(
        among certificates: [Certificate],
        for account: EmailAddress? = nil
    ) async throws(KeystoreError) -> [ImportBatch.IdentityItem] {
        var items: [ImportBatch.IdentityItem] = []
        // One query for all certificates: a query for each of thousands of certificates would take longer than storing
        // them.
        let renewed = try await database.read { database in
            let own = try Set(
                database.values(
                    "SELECT DISTINCT public_key FROM private_key JOIN certificate ON certificate = id",
                    as: [UInt8].self
                )
            )
            return try certificates.filter {
                own.contains($0.publicKeyDigest.bytes) && !$0.isCertificateAuthority
            }
            .map { ($0, try Self.holders(ofKeyOf: $0, in: database)) }
        }
        for (certificate, holders) in renewed {
            guard let holder = holders.first else { continue }
            let named = holders.filter { !$0.isAssigned && $0.isNamed }.map(\.address)
            let assigned = account.map { [$0] } ?? holders.filter(\.isAssigned).map(\.address)
            let groups = [(assigned, true), (account == nil ? named : [], false)].filter { !$0.0.isEmpty }
            guard !groups.isEmpty else { continue }
            let identity = Identity(unchecked: certificate, try await accounts.identity(holder.certificate).key)
            items += groups.map { accounts, isAssigned in .init(identity, accounts: accounts, isAssigned: isAssigned) }
        }
        return items
    }

    /// An account that has the private key for a certificate.
    private struct Holder {
        let address: EmailAddress
        /// Whether the certificate names the account's address or an alias.
        let isNamed: Bool
        /// Whether a user assigned the key to the account.
        let isAssigned: Bool
        /// The fingerprint of a certificate that the account already has for this key.
        let certificate: Fingerprint
    }

    /// The accounts that have the private key for `certificate`; empty if `certificate` is already an identity.
    private static func holders(ofKeyOf certificate: Certificate, in database: SQLDatabase) throws -> [Holder] {
        let fingerprint = certificate.fingerprint.bytes
        let rows = try database.rows(
            """
            SELECT account, assigned, own.fingerprint AS own FROM certificate AS own
            JOIN identity ON identity.certificate = own.id
            WHERE own.public_key = ?1 AND NOT EXISTS (
                SELECT 1 FROM certificate JOIN private_key ON certificate = id WHERE fingerprint = ?2)
            ORDER BY account, assigned DESC, own.id
            """,
            [certificate.publicKeyDigest.bytes, fingerprint]
        )
        var accounts: Set<Int64> = []
        return try rows.compactMap { row in
            guard accounts.insert(try row.value("account")).inserted else { return nil }
            guard let own = Fingerprint(bytes: try row.value("own") as [UInt8]) else { return nil }
            let account = try AccountRecord.account(row.value("account"), in: database)
            let scopes = try account.aliases.map { try AddressScope($0) } + [AddressScope(account.address)]
            return Holder(
                address: account.address,
                isNamed: scopes.contains { certificate.names($0) },
                isAssigned: try row.value("assigned"),
                certificate: own
            )
        }
    }
}
