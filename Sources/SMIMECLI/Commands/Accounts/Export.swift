import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write an account's identities to a PKCS#12 file, protected by a passphrase.",
            discussion: """
                The file holds all identities of the account, old ones too, with their chains. Asks before it \
                replaces an existing file, unless --force is given: that file may be the only copy of a private key.

                  smime export alice@example.org -o alice.p12
                """
        )

        @Argument(help: ArgumentHelp("The account's address.", valueName: "addr"))
        var address: EmailAddress
        @Option(name: [.short, .long], help: "Write to this file instead of standard output.", completion: .file())
        var output: String?
        @Flag(help: "Replace an existing file.")
        var force = false
        @Option(help: "Only the identity with this fingerprint.")
        var identity: Fingerprint?
        @Option(help: "The programs that must be able to read it: modern, legacy, or macos.")
        var compat = PKCS12.Compatibility.modern
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var storePasswords: StorePasswordOptions
        @OptionGroup var global: GlobalOptions

        private var target: String? { output == "-" ? nil : output }

        func run() async throws {
            guard target != nil || isatty(STDOUT_FILENO) != 1 else {
                throw Failure(.usage, "a PKCS#12 file cannot be written to a terminal", hints: ["name a file with -o"])
            }
            try TakenPlaces(
                global.location,
                reading: [passwords.passwordFile, storePasswords.storePasswordFile]
            ).check([target], replacing: SecretFileKind.allCases)
            let store = try await global.store(.readOnly, password: storePasswords.origin)
            _ = try await store.accounts.account(for: address)
            if let target, FileIdentity(target) != nil {
                let loss = "\(target): the file exists, and may be the only copy of a private key"
                try Confirmation.ask(loss, unless: force, by: "--force")
            }
            let exported = try await ExportedIdentities(of: address, only: identity, in: store)
            let passphrase = try passwords.passphrase("for the exported file", isNew: true)
            guard !passphrase.isEmpty else { throw Failure(.usage, "an empty passphrase protects nothing") }
            let bytes = try PKCS12.encode(
                exported.identities,
                chain: exported.chain,
                passphrase: passphrase,
                compatibility: compat
            )
            try Output.write(to: target, isPrivate: true) { try $0.write(bytes) }
        }
    }
}
