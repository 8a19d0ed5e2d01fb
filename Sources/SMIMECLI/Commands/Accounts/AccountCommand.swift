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
            abstract: "Show and change whom mail can be sent as.",
            discussion: "  smime account show alice@example.org",
            subcommands: [List.self, Show.self, Add.self, Set.self, Remove.self, Backup.self, Restore.self]
        )
    }
}

extension SMIMECommand.AccountCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the accounts.",
            discussion: "  smime account list --json"
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
                    table.add(account.address, until, counted(account.identities.count, "identity", "identities"))
                }
                return table.text
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show an account with its identities; the current ones are marked.",
            discussion: "  smime account show alice@example.org"
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
            try report.print(shown) {
                var table = TextTable()
                for identity in shown.identities {
                    table.add(
                        identity.current ? "*" : " ",
                        identity.usage.joined(separator: "+"),
                        "\(identity.notBefore.day) to \(identity.notAfter.day)",
                        "\(identity.fingerprint)",
                        identity.standing,
                        identity.pinned ? "pinned" : ""
                    )
                }
                let settings = [
                    shown.cipher.map { "cipher \($0)\n" },
                    shown.headerConfidentiality.map { "header confidentiality \($0)\n" },
                ]
                return shown.title.escapedForDisplay + "\n" + settings.compactMap(\.self).joined() + table.text
            }
        }
    }
}

/// An account as reports show it.
struct AccountReport: Encodable {
    struct IdentityLine: Encodable {
        let fingerprint: Fingerprint
        let current: Bool
        let pinned: Bool
        /// What the certificate allows: `encrypt`, `sign`.
        let usage: [String]
        let standing: String
        let subject: String
        let addresses: [String]
        let notBefore: Date
        let notAfter: Date
    }

    /// The policy rule for what the account sends; empty where there is none.
    struct PolicyLine: Encodable {
        let sign: String?
        let encrypt: String?
        let override: String?
        let missing: String?

        init(_ rule: Policy.Rule? = nil) {
            sign = rule?.sign?.rawValue
            encrypt = rule?.encrypt?.rawValue
            override = rule?.override?.rawValue
            missing = rule?.missing?.rawValue
        }
    }

    let address: String
    let aliases: [String]
    let name: String?
    /// What encrypted mail hides of its header; nil if the store's setting holds.
    let headerConfidentiality: String?
    let identities: [IdentityLine]
    fileprivate(set) var policy = PolicyLine()
    /// What encryption.cipher says of the account; nil if nothing.
    var cipher: String?

    /// - Parameter verdicts: what is known against its certificates.
    init(_ account: Account, at time: Date, verdicts: CertificateVerdicts) {
        address = account.address.text
        aliases = account.aliases
        name = account.name
        headerConfidentiality = account.headerConfidentiality?.rawValue
        func standings(_ purpose: IdentitySelection.Purpose) -> [IdentitySelection.Standing] {
            IdentitySelection.judge(
                account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )
        }
        let (signing, encryption) = (standings(.signing), standings(.encryption))
        identities = account.identities.indices.map { index in
            let certificate = account.identities[index].certificate
            let standing = signing[index] == .wrongUsage ? encryption[index] : signing[index]
            return IdentityLine(
                fingerprint: certificate.fingerprint,
                current: signing[index] == .current || encryption[index] == .current,
                pinned: account.identities[index].isPinned,
                usage: certificate.usage,
                standing: (encryption[index] == .current ? .current : standing).rawValue,
                subject: certificate.subject.description,
                addresses: certificate.addresses,
                notBefore: certificate.notBefore,
                notAfter: certificate.notAfter
            )
        }
    }

    /// The account by what `store` knows of revocation, and says of it in settings.
    init(_ account: Account, at time: Date, in store: Store) async throws {
        self.init(account, at: time, verdicts: try await store.verdicts(on: [account], at: time))
        cipher = try await store.cipherPreferences().cipher(for: account.address)?.name
    }

    /// The account in one line.
    var title: String {
        let names = [name].compactMap(\.self) + aliases
        return names.isEmpty ? address : "\(address) (\(names.joined(separator: ", ")))"
    }

    private enum CodingKeys: CodingKey {
        case address, aliases, cipher, headerConfidentiality, identities, name, policy
    }
}

extension Certificate {
    /// What mail can be done with it.
    var usage: [String] { (canEncrypt ? ["encrypt"] : []) + (canSign ? ["sign"] : []) }
}

extension Store {
    /// What is known against the certificates of `accounts`; of a folder of lists that cannot be read a warning tells.
    func verdicts(on accounts: [Account], at time: Date) async throws -> CertificateVerdicts {
        try await verdicts(on: accounts, at: time, warn: Console.warning)
    }
}
