import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.AccountCommand {
    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup",
            abstract: "Write accounts, and all data that they need, to one encrypted file for a new computer.",
            discussion: """
                The file holds the accounts' identities with their keys, aliases and ciphers, all rules except those \
                for other senders, and all recipients, trust anchors, intermediates and revocation lists of the store. `smime account restore` \
                adds all this to another store.

                The file does not hold the settings of the store. `smime store backup` \
                copies a whole store.

                  smime account backup alice@example.org -o alice.smime-backup
                  smime account backup alice@example.org office@example.org -o two.smime-backup
                  smime account backup alice@example.org --password-file FILE -o alice.backup
                """
        )

        @Argument(help: ArgumentHelp("The accounts' addresses.", valueName: "addr"))
        var addresses: [EmailAddress]
        @Option(
            name: .letter(.output),
            help: ArgumentHelp("Write to this file, which appears only when complete.", valueName: "file"),
            completion: .file()
        )
        var output: String
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var storePasswords: StorePasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if addresses.isEmpty { throw ValidationError("name the accounts to back up") }
            if output.isEmpty || output == "-" { throw ValidationError("the backup needs a file: --output") }
        }

        func run() async throws {
            try OutputCheck(
                global.location,
                reading: [passwords.passwordFile, storePasswords.storePasswordFile]
            ).check([output], replacing: [.accountBackup])
            let store = try await global.store(.readOnly, password: storePasswords.origin)
            let preferences = try await store.cipherPreferences()
            var ciphers: [EmailAddress: String] = [:]
            for address in addresses {
                let account = try await store.accounts.account(for: address)
                ciphers[account.address] = preferences.cipher(for: account.address)?.name
            }
            let passphrase = try passwords.passphrase("for the backup", isNew: true)
            guard !passphrase.isEmpty else { throw Failure(.usage, "an empty passphrase protects nothing") }
            let bytes = try await store.backupAccounts(
                addresses,
                ciphers: ciphers,
                passphrase: passphrase,
                at: .now
            )
            try Output.write(to: output, isPrivate: true) { try $0.write(bytes) }
            try report.print(BackupReport(accounts: addresses.map(\.text), file: output, bytes: bytes.count)) {
                "\(addresses.map(\.text).joined(separator: ", ")): backed up to \(output)\n"
            }
            if try await store.hasMoreThanAccounts() {
                Console.note("the backup does not include settings, or rules for senders who have no account in it")
                let copying = store.location.server == nil ? "smime store backup -o FILE" : "pg_dump, and the key file"
                Console.hint("to copy everything: \(copying)")
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Add the accounts in an `account backup` file to this store.",
            discussion: """
                Adds what is missing, also aliases and decisions to trust or distrust, which are listed: an older \
                backup may have some that you removed since. Your other decisions and values stay. Restoring a backup \
                a second time changes nothing.

                A backup contains trust anchors and policy rules, some of them for all mail: restore only backups \
                that you made yourself. It does not contain the settings of the store except the accounts' ciphers, nor \
                rules for senders who have no account in the backup. `smime store restore` restores a whole store.

                  smime account restore alice.smime-backup
                  smime account restore alice.smime-backup --password-file FILE
                """
        )

        @Argument(help: ArgumentHelp("The backup file.", valueName: "file"), completion: .file())
        var file: String
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var storePasswords: StorePasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let source = try Input.open(path: file)
            guard source.count <= Restoration.maximumCount else {
                let limit = Restoration.maximumCount
                throw Failure(.badData, "\(file): rejected, because it is larger than \(limit) bytes")
            }
            let bytes = try source.bytes(in: 0..<source.count)
            guard Restoration.isBackup(bytes) else { throw Self.noBackup(file, bytes) }
            let restoration = try Restoration(
                bytes,
                passphrase: try passwords.passphrase("for \(file)"),
                path: file
            )
            let store = try await global.store(.readWrite, password: storePasswords.origin)
            let ciphers = try RestoredCiphers(restoration, beside: try await store.cipherPreferences(), file: file)
            let result = try await store.restore(restoration, setting: RestoredCiphers.setting.rawValue, ciphers.change)
            try await store.close()
            (result.kept + ciphers.kept).forEach { Console.warning("unchanged: \($0)") }
            for rule in result.newRules where rule.scope.side != "sender" { Self.tell(rule) }
            try report.print(RestoreCommandReport(result, ciphers)) { Self.text(result, ciphers) }
            Console.note(
                "an account backup restores no settings except ciphers, and no rules for other senders; a copy of the store does"
            )
        }

        private static func noBackup(_ file: String, _ bytes: [UInt8]) -> Failure {
            let isCopy = bytes.starts(with: Array("SQLite format 3".utf8))
            return Failure(
                .badData,
                "\(file): is not an account backup",
                hints: isCopy ? ["to put back a copy of the whole store: smime store restore FILE"] : []
            )
        }

        /// Warns that a restored rule also applies to other accounts, and says how to remove it.
        private static func tell(_ rule: Policy.Rule) {
            Console.warning("the backup added a policy rule for all accounts: \(rule.scope): \(rule.words)")
            let option = rule.scope == .global ? "--global" : "--\(rule.scope.side) \(shell: rule.scope.text)"
            Console.hint("to remove it: smime policy unset \(option)")
        }

        private static func text(_ result: RestoreReport, _ ciphers: RestoredCiphers) -> String {
            var table = TextTable()
            func add(isNew: Bool, _ kind: String, text: String) { table.add(isNew ? "new" : "known", kind, text) }
            for account in result.accounts { add(isNew: account.isNew, "account", text: account.address.text) }
            for identity in result.identities {
                add(isNew: identity.isNew, "identity", text: "\(identity.account) \(identity.certificate.fingerprint)")
            }
            for alias in result.newAliases { add(isNew: true, "alias", text: "\(alias.account) \(alias.alias.text)") }
            for decision in result.newDecisions {
                let kind = decision.trust == .pinned ? "pin" : "distrust"
                add(isNew: true, kind, text: "\(decision.address) \(decision.certificate.fingerprint)")
            }
            for anchor in result.newAnchors {
                add(isNew: true, "anchor", text: "\(anchor.subject) \(anchor.fingerprint)")
            }
            for rule in result.newRules { add(isNew: true, "rule", text: "\(rule.scope): \(rule.words)") }
            for (account, cipher) in ciphers.new { add(isNew: true, "cipher", text: "\(account) \(cipher.name)") }
            let counts =
                "\(counted(result.newRecipients, "recipient")) new, \(result.updatedRecipients) updated, "
                + "\(counted(result.newCertificates, "certificate")) new\n"
            return table.text + counts
        }
    }
}

private struct BackupReport: Encodable {
    let accounts: [String]
    let file: String
    let bytes: Int
}

/// The report on the contents of a restored backup.
private struct RestoreCommandReport: Encodable {
    struct Account: Encodable {
        let address: String
        let new: Bool
    }

    struct Identity: Encodable {
        let account: String
        let fingerprint: Fingerprint
        let new: Bool
    }

    struct AccountCipher: Encodable {
        let account: String
        let cipher: String
    }

    struct Alias: Encodable {
        let account: String
        let alias: String
    }

    struct Decision: Encodable {
        let address: String
        let fingerprint: Fingerprint
        let trust: String
    }

    struct Counts: Encodable {
        let new: Int
        let updated: Int
    }

    let accounts: [Account]
    let aliases: [Alias]
    let anchors: [Fingerprint]
    let certificates: Int
    let changed: Bool
    /// The restored ciphers of accounts that had none in the store.
    let ciphers: [AccountCipher]
    let decisions: [Decision]
    let identities: [Identity]
    let kept: [String]
    let policy: [String]
    let recipients: Counts

    init(_ result: RestoreReport, _ ciphers: RestoredCiphers) {
        self.ciphers = ciphers.new.map { AccountCipher(account: $0.account.text, cipher: $0.cipher.name) }
        accounts = result.accounts.map { Account(address: $0.address.text, new: $0.isNew) }
        aliases = result.newAliases.map { Alias(account: $0.account.text, alias: $0.alias.text) }
        anchors = result.newAnchors.map(\.fingerprint)
        certificates = result.newCertificates
        changed = result.changesStore
        decisions = result.newDecisions.map {
            Decision(address: $0.address, fingerprint: $0.certificate.fingerprint, trust: $0.trust.rawValue)
        }
        identities = result.identities.map {
            Identity(account: $0.account.text, fingerprint: $0.certificate.fingerprint, new: $0.isNew)
        }
        kept = result.kept + ciphers.kept
        policy = result.newRules.map(\.scope.description)
        recipients = Counts(new: result.newRecipients, updated: result.updatedRecipients)
    }
}
