import ArgumentParser
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct AccountCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "account",
            abstract: "Show and change your accounts.",
            discussion: """
                  smime account list
                  smime account show alice@example.org
                  smime account add office@example.org
                """,
            subcommands: [List.self, Show.self, Add.self, Set.self, Remove.self, Backup.self, Restore.self]
        )
    }
}

extension SMIMECommand.AccountCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the accounts.",
            discussion: """
                  smime account list
                  smime account list --json
                """
        )

        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            store.noteIfMissing()
            let accounts = try await store.accounts.all()
            let verdicts = try await store.verdicts(on: accounts, at: time.date)
            let ciphers = try await store.cipherPreferences()
            let reports = accounts.map { account in
                var report = AccountReport(account, at: time.date, verdicts: verdicts)
                report.cipher = ciphers.cipher(for: account.address)?.name
                return report
            }
            try report.print(["accounts": reports]) {
                var table = TextTable()
                for account in reports {
                    let current = account.identities.filter(\.current)
                    let until = current.map(\.notAfter).min().map { "until \($0.day)" } ?? "no current identity"
                    table.add(
                        account.address,
                        until,
                        counted(account.identities.count, "identity", plural: "identities")
                    )
                }
                return table.text
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show an account and its identities; * marks the identities in use.",
            discussion: """
                  smime account show alice@example.org
                  smime account show alice@example.org --json
                  smime account show alice@example.org --time 2027-01-31
                """
        )

        @Argument(help: ArgumentHelp("The account's address.", valueName: "addr"))
        var address: EmailAddress
        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            let account = try await store.accounts.account(for: address)
            var shown = try await AccountReport(account, at: time.date, in: store)
            shown.policy = .init(try await store.policy.rule(forSender: account.address))
            var chains: [String] = []
            if !report.json {
                for identity in account.identities {
                    chains.append(try await ChainText(of: identity.certificate, in: store).text)
                }
            }
            try report.print(shown) {
                var table = TextTable()
                for identity in shown.identities {
                    table.add(
                        identity.current ? "*" : " ",
                        identity.usage.joined(separator: "+"),
                        "\(identity.notBefore.day) to \(identity.notAfter.day)",
                        identity.standing,
                        identity.pinned ? "pinned" : ""
                    )
                }
                let settings = [
                    shown.cipher.map { "cipher \($0)\n" },
                    shown.headerConfidentiality.map { "header confidentiality \($0)\n" },
                ]
                return shown.title.escapedForDisplay + "\n" + settings.compactMap(\.self).joined()
                    + table.text(between: chains)
            }
        }
    }
}

extension SMIMECommand.AccountCommand {
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an account and its private keys, or one of its keys.",
            discussion: """
                Mail that is encrypted to these keys can no longer be read. Also removes the account's cipher, and \
                the policy rules for its addresses as senders. Asks before it removes private keys, unless --yes is \
                given. With --fingerprint only that identity is removed. Keep a copy of the keys first:

                  smime export alice@example.org -o alice.p12
                  smime account remove alice@example.org
                  smime account remove alice@example.org --yes
                  smime account remove alice@example.org --fingerprint 55bc33f5
                """
        )

        @Argument(help: ArgumentHelp("The account's address.", valueName: "addr"))
        var address: EmailAddress
        @Option(help: .fingerprint("Remove only the identity with this fingerprint"))
        var fingerprint: FingerprintPrefix?
        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            if let fingerprint { return try await remove(fingerprint) }
            let keys = try await global.store(.readOnly).exclusiveIdentities(of: address).count
            if keys > 0 {
                try confirmation.confirm(
                    "\(address): \(counted(keys, "private key")) would be destroyed, and mail encrypted to this account could not be read any more"
                )
            }
            let store = try await global.store(.readWrite)
            let (account, removedKeys, rules) = try await store.accounts.remove(address)
            let cipher = await cipher(of: account, in: store)
            if cipher != nil { try await store.setCipher(nil, for: account.address) }
            let left = try await store.recipientRules(for: account)
            try await store.close()
            let removed = RemovalReport(
                address: account.address.text,
                cipher: cipher?.name,
                fingerprints: removedKeys.map(\.fingerprint),
                policy: rules.map(\.scope.description)
            )
            try report.print(removed) {
                let lines =
                    ["removed \(account.address)"] + removedKeys.map { "removed the key of \($0.fingerprint)" }
                    + rules.map { "removed the rule for \($0.scope): \($0.words)" }
                    + [cipher].compactMap(\.self).map { "removed its cipher \($0.name)" }
                return lines.map { $0.escapedForDisplay + "\n" }.joined()
            }
            for rule in left {
                Console.hint(
                    "a rule for mail to the address remains; to remove it: smime policy unset --\(rule.scope.side) \(shell: rule.scope.text)"
                )
            }
        }

        /// The account's cipher in the setting encryption.unknown. If the setting cannot be read, the account is removed
        /// nevertheless, and a warning says that the cipher may remain.
        private func cipher(of account: Account, in store: Store) async -> ContentCipher? {
            do { return try await store.cipherPreferences().cipher(for: account.address) } catch {
                let failure = Failure(error)
                Console.warning("\(account.address): its cipher may remain in the settings: \(failure.message)")
                failure.hints.forEach(Console.hint)
                return nil
            }
        }

        /// Removes one identity of the account.
        private func remove(_ prefix: FingerprintPrefix) async throws {
            let known = try await global.store(.readOnly).accounts.account(for: address)
            let fingerprint = try prefix.only(among: known.identities.map(\.certificate.fingerprint))
            let destroys = try await global.store(.readOnly).exclusiveIdentities(of: address)
                .contains { $0.certificate.fingerprint == fingerprint }
            if destroys {
                try confirmation.confirm(
                    "\(address): the private key of \(fingerprint) would be destroyed, and mail encrypted to it could not be read any more"
                )
            }
            let store = try await global.store(.readWrite)
            let isGone = try await store.accounts.remove(fingerprint, from: address)
            try await store.close()
            let removed = RemovalReport(
                address: known.address.text,
                cipher: nil,
                fingerprints: isGone ? [fingerprint] : [],
                policy: []
            )
            try report.print(removed) {
                isGone
                    ? "removed the key of \(fingerprint)\n"
                    : "removed \(fingerprint) from \(known.address); another account has its key\n".escapedForDisplay
            }
        }
    }

    private struct RemovalReport: Encodable {
        let address: String
        /// The account's cipher in the setting encryption.unknown.
        let cipher: String?
        /// The certificates of the removed keys.
        let fingerprints: [Fingerprint]
        /// The removed rules.
        let policy: [String]
    }
}
