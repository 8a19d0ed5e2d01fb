import ArgumentParser
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.AccountCommand {
    /// An account, and the values to set for it.
    struct Naming: ParsableArguments {
        @Argument(help: ArgumentHelp("The account's address.", valueName: "addr"))
        var address: EmailAddress
        @Option(help: ArgumentHelp("The display name of the account; '' removes it.", valueName: "name"))
        var name: String?
        @Option(
            name: .customLong("add-alias"),
            help: ArgumentHelp(
                "Another address of the account, or @domain; may be repeated.",
                valueName: "addr|@domain"
            )
        )
        var addedAliases: [AddressScope] = []
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            for named in [address] + addedAliases.compactMap(\.address) { try named.checkAccountName() }
            guard let name else { return }
            guard name.utf8.count <= 255, name.escapedForDisplay == name else {
                throw ValidationError("--name: too long for a name, or not printable")
            }
        }

        var change: AccountChange {
            var change = AccountChange()
            change.name = name
            change.addedAliases = addedAliases
            return change
        }

        /// Runs `change` on the store and prints the resulting account after `word`.
        func run(_ word: String, _ change: (Store) async throws -> Account) async throws {
            let store = try await global.store(.readWrite)
            let account = try await change(store)
            let shown = try await AccountReport(account, at: .now, in: store)
            try await store.close()
            try report.print(shown) { "\(word) \(shown.title)".escapedForDisplay + "\n" }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Create an account.",
            discussion: """
                `smime import --account` gives the account identities.

                  smime account add office@example.org
                  smime account add office@example.org --name "Our office"
                  smime account add office@example.org --add-alias @example.org
                """
        )

        @OptionGroup var naming: Naming

        func run() async throws {
            try await naming.run("added") { store in
                try await store.accounts.add(naming.address, naming.change, at: .now)
            }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change an account.",
            discussion: """
                The account uses its pinned identity while that identity is valid. Otherwise it uses the newest \
                trusted identity, or the newest identity if none is trusted.

                  smime account set alice@example.org --add-alias al@example.org --name Alice
                  smime account set alice@example.org --pin 3087f9c5
                  smime account set alice@example.org --header-confidentiality baseline
                """
        )

        @OptionGroup var naming: Naming
        @Option(
            name: .customLong("remove-alias"),
            help: ArgumentHelp("Remove this alias; may be repeated.", valueName: "addr|@domain")
        )
        var removedAliases: [AddressScope] = []
        @Option(
            help: ArgumentHelp(
                "Pin the identity with this fingerprint, or its first 8 digits or more; none removes the pin.",
                valueName: "fpr|none"
            ),
            transform: Self.parsePin
        )
        var pin: PinChoice?
        @Option(
            name: .customLong("header-confidentiality"),
            help: ArgumentHelp(
                """
                The header fields to hide in encrypted mail that names the account as its author or sender: none, baseline or \
                shy; default uses the store's setting.
                """,
                valueName: "policy"
            ),
            completion: .list(HeaderConfidentiality.allValueStrings + ["default"]),
            transform: Self.parseHiding
        )
        var hiding: AccountChange.Hiding?

        @Option(
            help: ArgumentHelp(
                """
                The cipher for recipients who announce no ciphers; it is added to the setting encryption.unknown. \
                default removes this entry.
                """,
                valueName: "cipher"
            ),
            completion: .list(ContentCipher.writable.map(\.name) + ["default"]),
            transform: Self.parseCipher
        )
        var cipher: CipherChoice?

        /// The identity to pin; `none` removes the pin.
        enum PinChoice {
            case none
            case identity(FingerprintPrefix)

            func pin(in account: Account) throws -> AccountChange.Pin {
                guard case .identity(let prefix) = self else { return .none }
                return .identity(
                    try prefix.whole ?? prefix.only(among: account.identities.map(\.certificate.fingerprint))
                )
            }
        }

        /// The new value of the account's cipher.
        enum CipherChoice {
            case cipher(ContentCipher)
            case standard

            var value: ContentCipher? { if case .cipher(let cipher) = self { cipher } else { nil } }
        }

        private static func parseCipher(_ text: String) throws -> CipherChoice {
            if text == "default" { return .standard }
            guard let cipher = ContentCipher(writable: text) else {
                let names = ContentCipher.writable.map(\.name).joined(separator: ", ")
                throw ValidationError("'\(text)' is not one of \(names), default")
            }
            return .cipher(cipher)
        }

        private static func parseHiding(_ text: String) throws -> AccountChange.Hiding {
            if text == "default" { return .standard }
            guard let policy = HeaderConfidentiality(rawValue: text) else {
                throw ValidationError("'\(text)' is not one of none, baseline, shy, default")
            }
            return .policy(policy)
        }

        private static func parsePin(_ text: String) throws -> PinChoice {
            if text == "none" { return .none }
            guard let prefix = FingerprintPrefix(text) else { throw ValidationError("'\(text)' is not a fingerprint") }
            return .identity(prefix)
        }

        func validate() throws {
            guard
                naming.name != nil || !naming.addedAliases.isEmpty || !removedAliases.isEmpty || pin != nil
                    || hiding != nil || cipher != nil
            else {
                throw ValidationError(
                    "give one of --name, --add-alias, --remove-alias, --pin, --header-confidentiality and --cipher"
                )
            }
        }

        func run() async throws {
            var change = naming.change
            change.removedAliases = removedAliases
            change.headerConfidentiality = hiding
            let before = try await naming.global.store(.readOnly).accounts.account(for: naming.address)
            change.pin = try pin?.pin(in: before)
            try await naming.run("changed") { store in
                // If one of several changes is impossible, no change is made.
                if let cipher { try await store.checkCipher(cipher.value, for: before.address) }
                let account = try await store.accounts.set(naming.address, change)
                if let cipher { try await store.setCipher(cipher.value, for: account.address) }
                return account
            }
        }
    }
}
