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
