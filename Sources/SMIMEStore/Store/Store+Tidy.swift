package import Foundation
package import InternetMessage
package import PKIX

extension Store {
    /// Removes data that was fetched or came with mail and is no longer needed: expired OCSP responses, expired
    /// revocation lists that a newer fetched list by the same key replaces, and CA certificates that no chain of the store's
    /// certificates uses.
    ///
    /// Imported data is never removed. An expired list without a successor stays: it may be the only evidence that a
    /// certificate was revoked.
    ///
    /// - Returns: one finding for each kind of removed data.
    package func tidy(at time: Date) async throws(KeystoreError) -> [StoreFinding] {
        try await database.write { database in
            let remains = try FetchedRemains(at: time, in: database)
            try remains.remove(from: database)
            return remains.findings
        }
    }

    /// What `tidy` would remove, as findings. Changes nothing.
    package func untidied(at time: Date) async throws(KeystoreError) -> [StoreFinding] {
        try await database.read { try FetchedRemains(at: time, in: $0).findings }
    }
}

/// Fetched or learned data that is no longer needed.
private struct FetchedRemains {
    /// How much clocks may differ, in seconds.
    private static let tolerance = 300.0

    private var answers: [[UInt8]] = []
    private var lists: [[UInt8]] = []
    private var authorities: [Int64] = []

    init(at time: Date, in database: SQLDatabase) throws {
        let end = time.addingTimeInterval(-Self.tolerance)
        answers = try database.values(
            "SELECT certificate FROM ocsp_response WHERE until < ?",
            [end.seconds],
            as: [UInt8].self
        )
        lists = try Self.lists(endedBefore: end, in: database)
        authorities = try Self.unneededAuthorities(in: database)
    }

    var findings: [StoreFinding] {
        [
            (answers.count, "expired OCSP responses"),
            (lists.count, "expired fetched revocation lists that newer lists replace"),
            (authorities.count, "CA certificates from mail that no chain uses"),
        ].filter { $0.0 > 0 }.map { StoreFinding(.ended, .note, text: "\($0.1): \($0.0)") }
    }

    func remove(from database: SQLDatabase) throws {
        for answer in answers {
            try database.execute("DELETE FROM ocsp_response WHERE certificate = ?", [answer], isCounted: false)
        }
        for list in lists { try database.execute("DELETE FROM crl WHERE fingerprint = ?", [list]) }
        for authority in authorities {
            try database.execute("DELETE FROM intermediate WHERE certificate = ?", [authority])
        }
        try CertificateRecord.removeUnused(authorities, from: database)
    }

    /// The fetched lists that expired before `end` and that another fetched list, signed with the same key, supersedes.
    /// Imported lists are not considered.
    private static func lists(endedBefore end: Date, in database: SQLDatabase) throws -> [[UInt8]] {
        // Several authorities may have the issuer's name. Only lists that one key signed are compared.
        let signers = try database.rows(
            """
            SELECT issuer_key, signer_key FROM crl WHERE fetched <> 0 AND signer_key IS NOT NULL
            GROUP BY issuer_key, signer_key HAVING count(*) > 1
            """
        )
        return try signers.flatMap { signer -> [[UInt8]] in
            let all = try database.values(
                "SELECT der FROM crl WHERE fetched <> 0 AND issuer_key = ? AND signer_key = ?",
                [signer.value("issuer_key") as [UInt8], signer.value("signer_key") as [UInt8]],
                as: [UInt8].self
            ).compactMap { try? CertificateList(der: $0) }
            let ended = all.filter { ($0.nextUpdate ?? .distantFuture) < end }
            return ended.filter { list in all.contains { $0 != list && $0.supersedes(list, at: end) } }
                .map { $0.fingerprint.bytes }
        }
    }

    private static func unneededAuthorities(in database: SQLDatabase) throws -> [Int64] {
        var learned = try database.rows(
            "SELECT id, der, fingerprint FROM intermediate JOIN certificate ON certificate = id WHERE learned <> 0"
        ).compactMap { row in
            let id: Int64 = try row.value("id")
            return (try? row.certificate()).map { (id: id, certificate: $0) }
        }
        guard !learned.isEmpty else { return [] }
        // These names are read from columns, so that one unreadable certificate does not prevent tidying the others.
        var names = try Set(
            database.values(
                """
                SELECT DISTINCT issuer_key FROM certificate
                WHERE id NOT IN (SELECT certificate FROM intermediate WHERE learned <> 0)
                    OR id IN (SELECT certificate FROM anchor UNION SELECT certificate FROM recipient)
                """,
                as: [UInt8].self
            )
        )
        // If a CA certificate is needed, so is that of its issuer.
        var isGrowing = true
        while isGrowing {
            let needed = try learned.filter { names.contains(try $0.certificate.subject.matchingKey) }
            isGrowing = !needed.isEmpty
            for authority in needed { names.insert(try authority.certificate.issuer.matchingKey) }
            learned.removeAll { authority in needed.contains { $0.id == authority.id } }
        }
        return learned.map(\.id)
    }
}

extension Store {
    /// Identities for those of `certificates` that renew a certificate of an account, which means that they have the same key.
    ///
    /// A new certificate goes to accounts that have the private key: to those whose address or alias the certificate
    /// names, and to those to which a user assigned the key with `--account`. Existing identities and CA certificates are
    /// left out.
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
