import Foundation
package import InternetMessage
package import LibCrypto
import PKIX
import SMIME

/// A backup that was completely read and checked, so that no error in the backup can occur while the store is being
/// changed.
package struct Restoration: Sendable {
    /// The maximum size of a backup to read, in bytes.
    package static let maximumCount = BackupFile.maximumCount

    struct Account: Sendable {
        let address: EmailAddress
        let backup: AccountBackup.Account
        let aliases: [AddressScope]
        let headerConfidentiality: HeaderConfidentiality?
        let identities: [(certificate: Certificate, backup: AccountBackup.Identity)]
    }

    struct Recipient: Sendable {
        /// The key by which the registry compares addresses.
        let key: String
        let certificate: Certificate
        let trust: KnownRecipient.Trust
        let source: KnownRecipient.Source
        let backup: AccountBackup.Recipient
    }

    /// The identities, with the private keys that the store will seal.
    let items: [ImportBatch.IdentityItem]
    let accounts: [Account]
    let recipients: [Recipient]
    let authorities: [(certificate: Certificate, anchored: Int?)]
    let revocationLists: [CertificateList]
    let rules: [Policy.Rule]
    /// When the backup was created, in seconds since 1970.
    let created: Int
    /// The names of the ciphers that rules set for the accounts.
    package var ciphers: [(account: EmailAddress, cipher: String)] {
        accounts.compactMap { account in account.backup.cipher.map { (account.address, $0) } }
    }

    /// Whether the bytes of a file begin like an account backup.
    package static func isBackup(_ bytes: [UInt8]) -> Bool { BackupFile.isBackup(bytes) }

    /// Reads an account backup.
    ///
    /// - Parameter path: the file's name in errors.
    /// - Throws: `.malformedBackup`, `.newerBackup`, `.wrongPassphrase`
    package init(_ bytes: [UInt8], passphrase: borrowing Passphrase, path: String) throws(KeystoreError) {
        let content = try BackupFile.open(bytes, passphrase: passphrase, path: path)
        let backup = try AccountBackup.decoded(content, path: path)
        do { try self.init(backup, passphrase: passphrase) } catch {
            throw KeystoreError.malformedBackup(path: path, detail: "\(error)")
        }
    }

    private init(_ backup: AccountBackup, passphrase: borrowing Passphrase) throws {
        let contents = try BackupContents(of: backup, passphrase: passphrase)
        items = contents.items
        accounts = try backup.accounts.map { try contents.account($0) }
        recipients = try backup.recipients.map { try contents.recipient($0) }
        authorities = try backup.authorities.map { (try contents.certificate($0.fingerprint), $0.anchored) }
        revocationLists = try backup.revocationLists.map { try CertificateList(der: [UInt8]($0)) }
        rules = try backup.policy.map { rule in
            guard let rule = Policy.Rule(rule) else {
                throw Unrestorable(description: "a policy rule has an unknown value")
            }
            return rule
        }
        created = backup.created
    }
}

/// The error for a part that the backup lacks, or that this version does not know.
private struct Unrestorable: Error, CustomStringConvertible {
    let description: String
}

/// The certificates and private keys of a backup. All other parts of the backup refer to them by fingerprint.
private struct BackupContents {
    private(set) var items: [ImportBatch.IdentityItem] = []
    private var certificates: [Fingerprint: Certificate] = [:]
    /// The fingerprints of the certificates whose private keys are in `items`.
    private var keyed: Set<Fingerprint> = []

    init(of backup: AccountBackup, passphrase: borrowing Passphrase) throws {
        for der in backup.certificates {
            let certificate = try Certificate(der: [UInt8](der))
            certificates[certificate.fingerprint] = certificate
        }
        for account in backup.accounts {
            let address = try EmailAddress(account.address)
            for file in account.keys {
                // A borrowed value cannot be wrapped in an optional. The copy is wiped after this block.
                let copy: Passphrase? = passphrase.copy()
                for identity in try PKCS12(ownFile: [UInt8](file), passphrase: copy).identities {
                    add(identity, for: address)
                }
            }
        }
    }

    private mutating func add(_ identity: Identity, for address: EmailAddress) {
        let certificate = identity.certificate
        certificates[certificate.fingerprint] = certificate
        guard keyed.insert(certificate.fingerprint).inserted else { return }
        items.append(.init(identity, accounts: [address], isAssigned: false))
    }

    func certificate(_ fingerprint: Fingerprint) throws -> Certificate {
        guard let found = certificates[fingerprint] else {
            throw Unrestorable(description: "the certificate \(fingerprint) is missing")
        }
        return found
    }

    func account(_ account: AccountBackup.Account) throws -> Restoration.Account {
        let confidentiality = account.headerConfidentiality.flatMap(HeaderConfidentiality.init(rawValue:))
        guard (confidentiality == nil) == (account.headerConfidentiality == nil) else {
            throw Unrestorable(
                description: "the account \(account.address) has an unknown setting for hidden header fields"
            )
        }
        return Restoration.Account(
            address: try EmailAddress(account.address),
            backup: account,
            aliases: try account.aliases.map { try AddressScope($0) },
            headerConfidentiality: confidentiality,
            identities: try account.identities.map { identity in
                guard keyed.contains(identity.fingerprint) else {
                    throw Unrestorable(description: "the key of \(identity.fingerprint) is missing")
                }
                return (try certificate(identity.fingerprint), identity)
            }
        )
    }

    func recipient(_ recipient: AccountBackup.Recipient) throws -> Restoration.Recipient {
        guard let trust = KnownRecipient.Trust(rawValue: recipient.trust),
            let source = KnownRecipient.Source(rawValue: recipient.source)
        else { throw Unrestorable(description: "a recipient has an unknown source or trust") }
        // Only a private key makes a certificate the user's own, and a backup may lack keys that it claims.
        let isOther = source == .identity && !keyed.contains(recipient.fingerprint)
        return Restoration.Recipient(
            key: try AddressScope(recipient.address).key,
            certificate: try certificate(recipient.fingerprint),
            trust: trust,
            source: isOther ? .imported : source,
            backup: recipient
        )
    }
}

extension Policy.Rule {
    /// Nil if the rule has an unknown value: ignoring the value would weaken the rule.
    fileprivate init?(_ backup: AccountBackup.Rule) {
        guard let scope = Policy.Scope(side: backup.side, pattern: backup.pattern) else { return nil }
        self.init(
            scope,
            sign: backup.sign.flatMap(Policy.Level.init),
            encrypt: backup.encrypt.flatMap(Policy.Level.init),
            override: backup.override.flatMap(Policy.Override.init),
            missing: backup.missing.flatMap(Policy.Missing.init),
            protected: backup.protected.flatMap(Policy.Protected.init),
            decryptAtGateway: backup.decryptAtGateway.flatMap(Policy.GatewayDecryption.init)
        )
        guard (sign == nil) == (backup.sign == nil), (encrypt == nil) == (backup.encrypt == nil),
            (override == nil) == (backup.override == nil), (missing == nil) == (backup.missing == nil),
            (protected == nil) == (backup.protected == nil),
            (decryptAtGateway == nil) == (backup.decryptAtGateway == nil)
        else { return nil }
    }
}

/// The result of restoring a copy of a store.
public struct StoreRestored: Sendable {
    /// The path of the copy of the old database; nil if there was no old store.
    public let kept: String?
    /// Whether a key file protects the copy and this host does not have it. Then only the passphrase opens the private keys,
    /// if the copy has one.
    public let needsKeyFile: Bool
}

extension Store {
    /// Replaces the store at `location` by a copy that `backup` created. Other processes may be using the store.
    ///
    /// Other processes see either the old store or the new one, even if this process is killed. A copy of the old database
    /// stays under another name.
    ///
    /// - Throws: `.malformedBackup` if the copy is damaged or no store; `.newer` if a newer program wrote the copy or the
    ///   store; `.older` if a program before the first release wrote it; `.foreignCopy`; `.notPossible` for a store on a
    ///   server; `.writeFailed`; what opening a store throws, except for damage.
    package static func restore(
        _ location: StoreLocation,
        from path: String
    ) async throws(KeystoreError) -> StoreRestored {
        try await onBlockingThread { () throws(KeystoreError) in
            do { return try restoreNow(location, from: path) } catch {
                throw KeystoreError(error, path: location.path)
            }
        }
    }

    private static func restoreNow(_ location: StoreLocation, from path: String) throws -> StoreRestored {
        guard location.server == nil else {
            let why = "`smime store restore` is for stores in files; restore this database with pg_restore"
            throw KeystoreError.notPossible(path: location.path, why: why)
        }
        let copy = try StoreCopy(path)
        let folder = StoreFolder(location: location)
        if try folder.exists() {
            try settle(location)
        } else {
            try folder.create()
        }
        let lock = try StoreLock(location)
        let hasKeyFile = try copy.hasKeyFile(at: location)
        let successor = location.databaseSuccessor
        StoreDatabase.remove(successor)
        try copy.write(to: successor)
        defer { StoreDatabase.remove(successor) }
        var kept: String?
        if try folder.exists() {
            kept = try StoreReplacement(location: location, successor: successor).run()
        } else {
            // SQLite would apply a log of the earlier database to the restored one.
            for suffix in ["-wal", "-shm"] { unlink(location.database + suffix) }
            try folder.rename(successor, to: location.database)
        }
        _ = consume lock
        return StoreRestored(kept: kept, needsKeyFile: !hasKeyFile)
    }

    /// Completes an interrupted change of the existing store's key file. If the store is damaged, nothing is done.
    private static func settle(_ location: StoreLocation) throws(KeystoreError) {
        do throws(KeystoreError) { try openNow(location, mode: .readWrite).database.closeUnused() } catch {
            guard case .corrupt = error else { throw error }
        }
    }
}
