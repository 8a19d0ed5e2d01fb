import Foundation
import GRDB
import InternetMessage
import SMIME

/// Accounts and identities as rows.
enum AccountRecord {
    /// Selects the row of the account that sends as an address, ?1, by its own right, or else for the whole domain, ?2.
    private static let sending = """
        SELECT coalesce(
            (SELECT id FROM account WHERE address_key = ?1),
            (SELECT account FROM account_alias WHERE pattern_key = ?1),
            (SELECT account FROM account_alias WHERE pattern_key = ?2))
        """

    /// The row of the account that `address` is the main address or an alias of.
    static func id(of address: EmailAddress, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database.cachedStatement(sending), arguments: [address.key, nil])
    }

    /// The row of the account that sends as `address`: by its own right, or else for the whole domain.
    static func id(sendingAs address: EmailAddress, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sending),
            arguments: [address.key, AddressScope.domainKey(address)]
        )
    }

    /// The row of the account that has the whole domain of `address` as an alias.
    static func id(forDomainOf address: EmailAddress, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement("SELECT account FROM account_alias WHERE pattern_key = ?"),
            arguments: [AddressScope.domainKey(address)]
        )
    }

    /// The account that sends as `address`, read by one statement; nil if there is none.
    static func summary(sendingAs address: EmailAddress, in database: Database) throws -> AccountSummary? {
        try Row.fetchOne(
            database.cachedStatement("SELECT address, header_confidentiality FROM account WHERE id = (\(sending))"),
            arguments: [address.key, AddressScope.domainKey(address)]
        ).map { row in
            AccountSummary(
                address: try row.address("address"),
                headerConfidentiality: try headerConfidentiality(row)
            )
        }
    }

    /// One account with everything that belongs to it, newest identity first.
    static func account(_ id: Int64, in database: Database) throws -> Account {
        let statement = try database.cachedStatement("SELECT * FROM account WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an account is missing")
        }
        let address = try row.address("address")
        let identities = try Row.fetchAll(
            database.cachedStatement(
                """
                SELECT der, assigned, pinned, added FROM identity JOIN certificate ON certificate.id = certificate
                WHERE account = ? ORDER BY not_before DESC, not_after DESC, fingerprint
                """
            ),
            arguments: [id]
        ).map { row in
            AccountIdentity(
                account: address,
                certificate: try row.certificate(),
                isAssigned: try row.value("assigned"),
                isPinned: try row.value("pinned"),
                added: try row.date("added")
            )
        }
        let aliases = try String.fetchAll(
            database.cachedStatement("SELECT pattern FROM account_alias WHERE account = ? ORDER BY pattern_key"),
            arguments: [id]
        )
        return Account(
            address: address,
            aliases: aliases,
            name: try row.optional("name"),
            headerConfidentiality: try headerConfidentiality(row),
            identities: identities
        )
    }

    /// What the account in this row hides of its header; nil for the store's setting.
    private static func headerConfidentiality(_ row: Row) throws -> HeaderConfidentiality? {
        (try row.optional("header_confidentiality") as String?).flatMap { HeaderConfidentiality(rawValue: $0) }
    }
}
