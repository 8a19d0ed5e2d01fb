package import Foundation
package import InternetMessage
package import PKIX
import SMIME

extension AccountStore {
    /// Creates an account without identities.
    ///
    /// - Throws: `.addressTaken` if an account has the address, or another account one of the aliases; `.unknownAlias`
    ///   and `.unknownCertificate` if `change` removes an alias or pins an identity: the new account has none.
    package func add(
        _ address: EmailAddress,
        _ change: AccountChange = AccountChange(),
        at time: Date
    ) async throws(KeystoreError) -> Account {
        try await database.write { database in
            if let other = try AccountRecord.id(of: address, in: database) {
                throw KeystoreError.addressTaken(address.text, by: try AccountRecord.address(other, in: database))
            }
            let id = try database.insert(
                "INSERT INTO account (address_key, address, created) VALUES (?, ?, ?)",
                [address.key, address.text, time.seconds]
            )
            try AccountRecord.apply(change, to: id, in: database)
            return try AccountRecord.account(id, in: database)
        }
    }

    /// Changes the account of `address`.
    ///
    /// - Throws: `.unknownAccount`; `.addressTaken`; `.unknownCertificate` if the pinned certificate is no identity of the
    ///   account; `.unknownAlias`.
    package func set(_ address: EmailAddress, _ change: AccountChange) async throws(KeystoreError) -> Account {
        try await database.write { database in
            let id = try AccountRecord.existing(address, in: database)
            try AccountRecord.apply(change, to: id, in: database)
            return try AccountRecord.account(id, in: database)
        }
    }

    /// Removes the account of `address`, the private keys that no other account has, and the policy rules whose sender is
    /// exactly one of the account's addresses.
    ///
    /// - Returns: the removed account, the certificates of the removed keys, and the removed rules.
    /// - Throws: `.unknownAccount`
    package func remove(
        _ address: EmailAddress
    ) async throws(KeystoreError) -> (account: Account, keys: [Certificate], rules: [Policy.Rule]) {
        try await database.write { database in
            let id = try AccountRecord.existing(address, in: database)
            let account = try AccountRecord.account(id, in: database)
            try database.execute("DELETE FROM account WHERE id = ?", [id])
            let keys = try account.identities.map(\.certificate).filter { certificate in
                guard let row = try CertificateRecord.id(of: certificate.fingerprint, in: database) else {
                    return false
                }
                return try Self.removeUnusedKey(row, in: database)
            }
            return (account, keys, try Self.removeRules(of: account, in: database))
        }
    }

    /// Removes one identity from the account of `address`, and its private key if no other account has it.
    ///
    /// - Returns: whether the private key was removed.
    /// - Throws: `.unknownAccount`; `.unknownCertificate` if the account has no such identity.
    package func remove(
        _ fingerprint: Fingerprint,
        from address: EmailAddress
    ) async throws(KeystoreError) -> Bool {
        try await database.write { database in
            let account = try AccountRecord.existing(address, in: database)
            guard let row = try CertificateRecord.id(of: fingerprint, in: database),
                try database.execute("DELETE FROM identity WHERE account = ? AND certificate = ?", [account, row]) > 0
            else { throw KeystoreError.unknownCertificate(fingerprint) }
            return try Self.removeUnusedKey(row, in: database)
        }
    }

    /// Removes the private key in the row `certificate` unless an account has it.
    ///
    /// - Returns: whether the key was removed.
    private static func removeUnusedKey(_ certificate: Int64, in database: SQLDatabase) throws -> Bool {
        let count = try database.execute(
            """
            DELETE FROM private_key WHERE certificate = ?1
                AND NOT EXISTS (SELECT 1 FROM identity WHERE certificate = ?1)
            """,
            [certificate]
        )
        guard count > 0 else { return false }
        // Without the private key, mail encrypted to this certificate can no longer be read.
        try database.execute(
            "DELETE FROM recipient WHERE certificate = ? AND source = ?",
            [certificate, KnownRecipient.Source.identity.rawValue]
        )
        try CertificateRecord.removeUnused([certificate], from: database)
        return true
    }

    /// Removes the rules whose sender is an address of `account`; rules for a whole domain stay.
    private static func removeRules(of account: Account, in database: SQLDatabase) throws -> [Policy.Rule] {
        let addresses = [account.address.text] + account.aliases.filter { !$0.hasPrefix("@") }
        let rules = try addresses.compactMap { address in
            try Policy.Pattern(address).flatMap { try PolicyStore.rule(.sender($0), in: database) }
        }
        try PolicyStore.save(rules.map { Policy.Rule($0.scope) }, in: database)
        return rules
    }

    /// The accounts that can sign as `address` at `time`, because an identity's certificate names the address.
    package func accounts(
        signingAs address: EmailAddress,
        at time: Date
    ) async throws(KeystoreError) -> [Account] {
        var fitting: [Account] = []
        for account in try await all() {
            let identities = account.identities.filter { $0.certificate.names(address) }
            let verdicts = try await verdicts(on: [identities.map(\.certificate)], at: time)
            let current = IdentitySelection.current(
                of: identities,
                for: address,
                purpose: .signing,
                at: time,
                verdicts: verdicts
            )
            if current != nil { fitting.append(account) }
        }
        return fitting
    }
}

extension AccountRecord {
    /// The row ID of the account of `address`.
    ///
    /// - Throws: `KeystoreError.unknownAccount`
    static func existing(_ address: EmailAddress, in database: SQLDatabase) throws -> Int64 {
        guard let id = try id(of: address, in: database) else { throw KeystoreError.unknownAccount(address) }
        return id
    }

    /// The main address of the account in the row `id`.
    static func address(_ id: Int64, in database: SQLDatabase) throws -> EmailAddress {
        let row = try database.row("SELECT address FROM account WHERE id = ?", [id])
        guard let row else { throw SQLError(.corrupt, "an account is missing") }
        return try row.address("address")
    }

    static func apply(_ change: AccountChange, to account: Int64, in database: SQLDatabase) throws {
        if let name = change.name {
            try database.execute("UPDATE account SET name = ? WHERE id = ?", [name.isEmpty ? nil : name, account])
        }
        if let hiding = change.headerConfidentiality {
            var policy: HeaderConfidentiality?
            if case .policy(let chosen) = hiding { policy = chosen }
            try database.execute(
                "UPDATE account SET header_confidentiality = ? WHERE id = ?",
                [policy?.rawValue, account]
            )
        }
        for alias in change.removedAliases {
            let count = try database.execute(
                "DELETE FROM account_alias WHERE account = ? AND pattern_key = ?",
                [account, alias.key]
            )
            guard count > 0 else { throw KeystoreError.unknownAlias(alias.text) }
        }
        for alias in change.addedAliases { try add(alias, to: account, in: database) }
        if let pin = change.pin { try set(pin, of: account, in: database) }
    }

    /// Adds an alias to the account in the row `account`.
    ///
    /// - Returns: whether the account did not have the alias before.
    /// - Throws: `.addressTaken`
    @discardableResult
    static func add(_ alias: AddressScope, to account: Int64, in database: SQLDatabase) throws -> Bool {
        let owner = try database.value(
            """
            SELECT id FROM account WHERE address_key = ?1
            UNION ALL SELECT account FROM account_alias WHERE pattern_key = ?1
            """,
            [alias.key],
            as: Int64.self
        )
        guard let owner else {
            try database.execute(
                "INSERT INTO account_alias (pattern_key, pattern, account) VALUES (?, ?, ?)",
                [alias.key, alias.text, account]
            )
            return true
        }
        guard owner == account else {
            throw KeystoreError.addressTaken(alias.text, by: try address(owner, in: database))
        }
        return false
    }

    /// Pins one identity, and unpins the others that share a use with it. `.none` unpins all.
    private static func set(_ pin: AccountChange.Pin, of account: Int64, in database: SQLDatabase) throws {
        let identities = try self.account(account, in: database).identities.map(\.certificate)
        var pinned: Certificate?
        if case .identity(let fingerprint) = pin {
            pinned = identities.first { $0.fingerprint == fingerprint }
            guard pinned != nil else { throw KeystoreError.unknownCertificate(fingerprint) }
        }
        for certificate in identities {
            let isRival = pinned?.sharesUse(with: certificate) ?? true
            guard isRival || certificate == pinned else { continue }
            try database.execute(
                """
                UPDATE identity SET pinned = ? WHERE account = ?
                    AND certificate = (SELECT id FROM certificate WHERE fingerprint = ?)
                """,
                [certificate == pinned, account, certificate.fingerprint.bytes]
            )
        }
    }
}
