public import Foundation
public import InternetMessage
public import PKIX
package import SMIME

/// A person or role from whose addresses mail is sent.
public struct Account: Sendable {
    /// The main address, which identifies the account.
    public let address: EmailAddress
    /// Further addresses of the account; `@domain` stands for all addresses of a domain.
    public let aliases: [String]
    /// The display name of the account; nil if none is set.
    public let name: String?
    /// Which header fields the account's encrypted mail hides; nil if the store's setting applies.
    package let headerConfidentiality: HeaderConfidentiality?
    /// All identities of the account, newest first, including those that can no longer be used.
    public let identities: [AccountIdentity]
}

/// An account without its identities.
package struct AccountSummary: Sendable {
    /// The main address, which identifies the account.
    package let address: EmailAddress
    /// Which header fields the account's encrypted mail hides; nil if the store's setting applies.
    package let headerConfidentiality: HeaderConfidentiality?
}

/// A certificate whose private key is in the store, as one account uses the certificate.
public struct AccountIdentity: Sendable {
    /// The main address of the account.
    public let account: EmailAddress
    /// The certificate. Its private key is in the store.
    public let certificate: Certificate
    /// Whether a user assigned the certificate to the account. Then the certificate need not name the account's address.
    public let isAssigned: Bool
    /// Whether the account prefers this identity to newer ones.
    public let isPinned: Bool
    /// When the identity was added to the store.
    public let added: Date

    package init(
        account: EmailAddress,
        certificate: Certificate,
        isAssigned: Bool = false,
        isPinned: Bool = false,
        added: Date
    ) {
        self.account = account
        self.certificate = certificate
        self.isAssigned = isAssigned
        self.isPinned = isPinned
        self.added = added
    }
}

/// A change of an account.
package struct AccountChange: Sendable {
    /// Which identity the account prefers to newer ones.
    package enum Pin: Sendable {
        case identity(Fingerprint)
        /// No identity is pinned.
        case none
    }

    /// Which header fields the account's encrypted mail hides.
    package enum Hiding: Sendable {
        case policy(HeaderConfidentiality)
        /// The store's setting applies.
        case standard
    }

    /// The display name; nil leaves it unchanged, an empty string removes it.
    package var name: String?
    /// The aliases to add: addresses, or domains whose addresses all belong to the account.
    package var addedAliases: [AddressScope] = []
    /// The aliases to remove.
    package var removedAliases: [AddressScope] = []
    /// The identity to pin; nil leaves the pins unchanged.
    package var pin: Pin?
    /// Which header fields encrypted mail hides; nil leaves this unchanged.
    package var headerConfidentiality: Hiding?

    package init() {}
}

/// The tables of accounts and identities.
enum AccountRecord {
    /// Selects the row of the account that has the address ?1. If there is none, selects the account that has the whole
    /// domain ?2.
    private static let sending = """
        SELECT coalesce(
            (SELECT id FROM account WHERE address_key = ?1),
            (SELECT account FROM account_alias WHERE pattern_key = ?1),
            (SELECT account FROM account_alias WHERE pattern_key = ?2))
        """

    /// The row ID of the account that has `address` as its main address or as an alias; nil if there is none.
    static func id(of address: EmailAddress, in database: SQLDatabase) throws -> Int64? {
        try database.cached(.accountNamed, [address.key]) {
            try database.value(sending, [address.key, nil], as: Int64.self)
        }
    }

    /// The row ID of the account that has `address`, or otherwise of the account that has the whole domain; nil if there is
    /// none.
    static func id(sendingAs address: EmailAddress, in database: SQLDatabase) throws -> Int64? {
        try database.cached(.accountSending, [address.key]) {
            try database.value(sending, [address.key, AddressScope.domainKey(address)], as: Int64.self)
        }
    }

    /// The row ID of the account that has the whole domain of `address` as an alias; nil if there is none.
    static func id(forDomainOf address: EmailAddress, in database: SQLDatabase) throws -> Int64? {
        let domain = AddressScope.domainKey(address)
        return try database.cached(.accountOfDomain, [domain]) {
            try database.value("SELECT account FROM account_alias WHERE pattern_key = ?", [domain], as: Int64.self)
        }
    }

    /// The account that sends as `address`, read by one SQL statement; nil if there is none.
    static func summary(sendingAs address: EmailAddress, in database: SQLDatabase) throws -> AccountSummary? {
        try database.cached(.accountSummary, [address.key]) {
            try database.row(
                "SELECT address, header_confidentiality FROM account WHERE id = (\(sending))",
                [address.key, AddressScope.domainKey(address)]
            ).map { row in
                AccountSummary(
                    address: try row.address("address"),
                    headerConfidentiality: try headerConfidentiality(row)
                )
            }
        }
    }

    /// The account in the row `id`, with its aliases and its identities, newest identity first.
    static func account(_ id: Int64, in database: SQLDatabase) throws -> Account {
        try database.cached(.account, [id], cost: { $0.identities.map(\.certificate).encodedCount }) {
            try read(id, in: database)
        }
    }

    private static func read(_ id: Int64, in database: SQLDatabase) throws -> Account {
        let statement = "SELECT * FROM account WHERE id = ?"
        guard let row = try database.row(statement, [id]) else {
            throw SQLError(.corrupt, "an account is missing")
        }
        let address = try row.address("address")
        let identities = try database.rows(
            """
            SELECT der, fingerprint, assigned, pinned, added FROM identity JOIN certificate ON certificate.id = certificate
            WHERE account = ? ORDER BY not_before DESC, not_after DESC, fingerprint
            """,
            [id]
        ).map { row in
            AccountIdentity(
                account: address,
                certificate: try row.certificate(),
                isAssigned: try row.value("assigned"),
                isPinned: try row.value("pinned"),
                added: try row.date("added")
            )
        }
        let aliases = try database.values(
            "SELECT pattern FROM account_alias WHERE account = ? ORDER BY pattern_key",
            [id],
            as: String.self
        )
        return Account(
            address: address,
            aliases: aliases,
            name: try row.optional("name"),
            headerConfidentiality: try headerConfidentiality(row),
            identities: identities
        )
    }

    /// The header confidentiality of the account in this row; nil if the store's setting applies.
    private static func headerConfidentiality(_ row: SQLRow) throws -> HeaderConfidentiality? {
        (try row.optional("header_confidentiality") as String?).flatMap { HeaderConfidentiality(rawValue: $0) }
    }
}
