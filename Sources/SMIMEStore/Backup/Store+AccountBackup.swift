package import Foundation
package import InternetMessage
package import LibCrypto
import PKIX
import SMIME

extension Store {
    /// Creates an encrypted file with the accounts of `addresses`: their identities with all private keys, and their
    /// aliases. The file also has all recipients, trust anchors, intermediates and revocation lists of the store, and all
    /// policy rules except sender rules that apply to none of the accounts. Rows that `repairRows` removes are left out.
    ///
    /// - Parameter ciphers: the name of the cipher that a rule sets for each account, by the account's main address. The
    ///   store does not know ciphers.
    /// - Throws: `.unknownAccount`; what opening the store key throws.
    package func backupAccounts(
        _ addresses: [EmailAddress],
        ciphers: [EmailAddress: String] = [:],
        passphrase: borrowing Passphrase,
        at time: Date
    ) async throws(KeystoreError) -> [UInt8] {
        let (snapshot, keys) = try await snapshot(of: addresses)
        do {
            var accounts: [AccountBackup.Account] = []
            for (account, keys) in zip(snapshot.accounts, keys) {
                var files: [Data] = []
                for part in Self.parts(of: keys) {
                    files.append(Data(try PKCS12.encode(part, passphrase: passphrase)))
                }
                accounts.append(account.backup(keys: files, cipher: ciphers[account.account.address]))
            }
            return try BackupFile.seal(
                try snapshot.backup(of: accounts, at: time).encoded(),
                passphrase: passphrase
            )
        } catch {
            throw KeystoreError(error, path: location.path)
        }
    }

    /// Divides `keys` into parts that each fit into one PKCS#12 file.
    private static func parts(of keys: [Identity]) -> [[Identity]] {
        var parts: [[Identity]] = []
        var count = 0
        for key in keys {
            count += key.certificate.der.count
            // Certificates may take half of a file; the other half is for the private keys and the PKCS#12 structure.
            if let last = parts.last, last.count < PKCS12.maximumKeys, count <= PKCS12.maximumCount / 2 {
                parts[parts.count - 1].append(key)
            } else {
                parts.append([key])
                count = key.certificate.der.count
            }
        }
        return parts
    }

    /// The contents of the store, and the private keys of each account. Reads again if the store key was replaced in
    /// between.
    private func snapshot(
        of addresses: [EmailAddress]
    ) async throws(KeystoreError) -> (BackupSnapshot, [[Identity]]) {
        var seen: Protectors?
        while true {
            let snapshot = try await database.read { try BackupSnapshot(of: addresses, in: $0) }
            do throws(KeystoreError) {
                var keys: [[Identity]] = []
                for account in snapshot.accounts {
                    keys.append(try await account.keys.open(unlocker, path: location.database))
                }
                return (snapshot, keys)
            } catch {
                guard case .keyMismatch = error, let now = snapshot.accounts.first?.keys.protectors, now != seen else {
                    throw error
                }
                seen = now
            }
        }
    }
}

/// The data for a backup, read in one transaction.
private struct BackupSnapshot: Sendable {
    struct Account: Sendable {
        let account: SMIMEStore.Account
        let created: Int
        let keys: SealedKeys

        func backup(keys: [Data], cipher: String?) -> AccountBackup.Account {
            AccountBackup.Account(
                address: account.address.text,
                name: account.name,
                headerConfidentiality: account.headerConfidentiality?.rawValue,
                cipher: cipher,
                created: created,
                aliases: account.aliases,
                identities: account.identities.map {
                    AccountBackup.Identity(
                        fingerprint: $0.certificate.fingerprint,
                        assigned: $0.isAssigned,
                        pinned: $0.isPinned,
                        added: $0.added.seconds
                    )
                },
                keys: keys
            )
        }
    }

    let accounts: [Account]
    private let certificates: [Data]
    private let authorities: [AccountBackup.Authority]
    private let revocationLists: [Data]
    private let recipients: [AccountBackup.Recipient]
    private let policy: [AccountBackup.Rule]

    init(of addresses: [EmailAddress], in database: SQLDatabase) throws {
        var ids: [Int64] = []
        for address in addresses {
            let id = try AccountRecord.existing(address, in: database)
            if !ids.contains(id) { ids.append(id) }
        }
        accounts = try ids.map { id in
            let account = try AccountRecord.account(id, in: database)
            let certificates = account.identities.map(\.certificate)
            let created = try database.value("SELECT created FROM account WHERE id = ?", [id], as: Int.self)
            return Account(
                account: account,
                created: created ?? 0,
                keys: try SealedKeys(certificates: certificates, in: database)
            )
        }
        let own = Set(accounts.flatMap { $0.account.identities.map(\.certificate.fingerprint) })
        // With one learned or fetched row that cannot be read, the whole backup could not be restored.
        let wrong = try WrongRows(in: database)
        let unreadable = Set(wrong.certificates)
        certificates = try database.rows(
            """
            SELECT id, der FROM certificate WHERE id IN (SELECT certificate FROM recipient
                UNION SELECT certificate FROM intermediate UNION SELECT certificate FROM anchor) ORDER BY id
            """
        ).filter { try !unreadable.contains($0.value("id") as Int64) }.map { try $0.value("der") as Data }
        authorities = try database.rows(
            """
            SELECT id, fingerprint, added FROM certificate LEFT JOIN anchor ON anchor.certificate = id
            WHERE id IN (SELECT certificate FROM intermediate UNION SELECT certificate FROM anchor) ORDER BY id
            """
        ).filter { try !unreadable.contains($0.value("id") as Int64) }.map {
            AccountBackup.Authority(fingerprint: try $0.fingerprint(), anchored: try $0.optional("added"))
        }
        let unreadableLists = Set(wrong.lists)
        revocationLists = try database.rows("SELECT fingerprint, der FROM crl ORDER BY fingerprint").filter {
            try !unreadableLists.contains($0.value("fingerprint") as [UInt8])
        }.map { try $0.value("der") as Data }
        recipients = try Self.recipients(in: database, except: wrong).map { try AccountBackup.Recipient($0, own: own) }
        policy = try Self.policy(for: accounts.map(\.account), in: database)
    }

    private static func recipients(in database: SQLDatabase, except wrong: WrongRows) throws -> [SQLRow] {
        let certificates = Set(wrong.certificates)
        let addresses = Dictionary(grouping: wrong.recipients, by: { $0.certificate })
        return try database.rows(
            """
            SELECT recipient.*, fingerprint FROM recipient JOIN certificate ON id = certificate
            ORDER BY address_key, fingerprint
            """
        ).filter { row in
            let (key, certificate): (String, Int64) = (try row.value("address_key"), try row.value("certificate"))
            let isWrong = addresses[certificate, default: []].contains { $0.key == key }
            return !isWrong && !certificates.contains(certificate)
        }
    }

    func backup(of accounts: [AccountBackup.Account], at time: Date) -> AccountBackup {
        AccountBackup(
            schema: AccountBackup.schema,
            created: time.seconds,
            accounts: accounts,
            certificates: certificates,
            authorities: authorities,
            revocationLists: revocationLists,
            recipients: recipients,
            policy: policy
        )
    }

    /// The sender rules that apply to one of `accounts`, and all rules that are not for senders.
    private static func policy(
        for accounts: [SMIMEStore.Account],
        in database: SQLDatabase
    ) throws -> [AccountBackup.Rule] {
        var senders: Set<String> = []
        for account in accounts {
            senders.formUnion(Policy.Pattern.keys(for: account.address))
            for alias in account.aliases {
                let address = try? EmailAddress(alias.hasPrefix("@") ? "postmaster\(alias)" : alias)
                guard let keys = address.map(Policy.Pattern.keys) else { continue }
                senders.formUnion(alias.hasPrefix("@") ? Array(keys.dropFirst()) : keys)
            }
        }
        return try database.rows("SELECT * FROM policy_rule ORDER BY side, pattern_key").filter {
            try $0.value("side") != "sender" || senders.contains($0.value("pattern_key"))
        }.map { row in
            AccountBackup.Rule(
                side: try row.value("side"),
                pattern: try row.value("pattern"),
                sign: try row.optional("sign"),
                encrypt: try row.optional("encrypt"),
                override: try row.optional("override"),
                missing: try row.optional("missing"),
                protected: try row.optional("protected"),
                decryptAtGateway: try row.optional("decrypt_at_gateway")
            )
        }
    }
}

extension AccountBackup.Recipient {
    /// - Parameter own: the certificates whose private keys are in the backup. Only these become identities when the backup
    ///   is restored.
    fileprivate init(_ row: SQLRow, own: Set<Fingerprint>) throws {
        let fingerprint = try row.fingerprint()
        let isOther = try row.value("source") == KnownRecipient.Source.identity.rawValue && !own.contains(fingerprint)
        self.init(
            address: try row.value("address"),
            fingerprint: fingerprint,
            source: try isOther ? KnownRecipient.Source.imported.rawValue : row.value("source"),
            sourceDetail: try row.optional("source_detail"),
            firstSeen: try row.value("first_seen"),
            lastSeen: try row.value("last_seen"),
            trust: try row.value("trust"),
            capabilities: try row.optional("capabilities"),
            capabilitiesTime: try row.optional("capabilities_time")
        )
    }
}

extension SQLRow {
    /// The fingerprint in column `fingerprint`.
    fileprivate func fingerprint() throws -> Fingerprint {
        guard let fingerprint = Fingerprint(bytes: try value("fingerprint") as [UInt8]) else {
            throw SQLError(.corrupt, "a fingerprint has the wrong length")
        }
        return fingerprint
    }
}

extension Store {
    /// Restores a backup of accounts into the store. If an error occurs, nothing is changed.
    ///
    /// Existing data stays. A second restore changes nothing.
    ///
    /// - Parameters:
    ///   - setting: the name of a setting that changes in the same transaction.
    ///   - change: returns the new value of the setting, as in `SettingStore.change`.
    /// - Throws: what opening the store key throws; `.notWritable`, `.writeFailed`, `.busy`
    package func restore(
        _ restoration: Restoration,
        setting: String,
        _ change: @escaping @Sendable (String?) -> String?
    ) async throws(KeystoreError) -> RestoreReport {
        try await sealing(restoration.items) { sealed, database in
            var transaction = RestoreTransaction(database: database, restoration: restoration)
            return try transaction.run(sealedKeys: sealed) { try SettingStore.change(setting, in: database, change) }
        }
    }
}
