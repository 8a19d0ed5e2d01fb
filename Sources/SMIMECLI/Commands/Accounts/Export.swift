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
            abstract: "Export an identity for another program or device.",
            discussion: """
                p12           every identity of the account, with its chain
                mobileconfig  the same identities as a signed profile for an iPhone, iPad or Mac
                pem           the certificates in use, for other people
                ldif, vcard   the same certificates, for a directory or for an address book
                smimea        the same certificates, as DNS records (RFC 8162)

                Only p12 and mobileconfig contain private keys, encrypted with a passphrase that is not in the file. \
                They replace an existing file only with --force or after a question: the file may be the only copy of \
                a key. With --imap and --smtp, or --exchange, the profile also sets up the mail account.

                  smime export alice@example.org -o alice.p12
                  smime export alice@example.org --format mobileconfig -o alice.mobileconfig
                  smime export alice@example.org --format pem -o alice.pem
                  smime export --all --format smimea -o smimea.zone
                """
        )

        @Argument(help: ArgumentHelp("The account's address.", valueName: "addr"))
        var address: EmailAddress?
        @Flag(name: .customLong("all"), help: "Export every account; only with ldif and smimea.")
        var coversAll = false
        @Option(help: "What to write: p12, mobileconfig, pem, ldif, vcard, or smimea. (default: p12)")
        var format: ExportFormat?
        @Option(
            name: .letter(.output),
            help: ArgumentHelp("Write to this file, which appears only when complete.", valueName: "file"),
            completion: .file()
        )
        var output: String?
        @Flag(help: "Replace an existing file with private keys.")
        var force = false
        @Option(help: .fingerprint("Export only the identity with this fingerprint"))
        var identity: FingerprintPrefix?
        @Option(
            help:
                "The programs that must be able to read the file: modern, legacy, or macos. (default: macos in a profile, else modern)"
        )
        var compat: PKCS12.Compatibility?
        @OptionGroup var servers: ExportedServerOptions
        @Option(
            help: ArgumentHelp(
                """
                The name of the entry in the directory. With --all, %u in the name stands for the local part of the \
                address, and %s for the address. (default: derived from the address)
                """,
                valueName: "dn"
            )
        )
        var dn: String?
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var storePasswords: StorePasswordOptions
        @OptionGroup var global: GlobalOptions

        private var target: String? { output == "-" ? nil : output }
        private var kind: ExportFormat { format ?? .p12 }

        func validate() throws {
            guard coversAll == (address == nil) else {
                throw ValidationError("either an account's address or --all is needed")
            }
            if coversAll {
                guard kind.isForDirectories else { throw ValidationError("--all needs --format ldif or smimea") }
                guard identity == nil else { throw ValidationError("--identity and --all exclude each other") }
                guard dn.map({ $0.contains("%u") || $0.contains("%s") }) != false else {
                    throw ValidationError(
                        "with --all, --dn must contain %u or %s, so that each address has its own entry"
                    )
                }
            }
            if let option = servers.firstGiven, kind != .mobileconfig {
                throw ValidationError("\(option) needs --format mobileconfig")
            }
            guard kind != .ldif, dn != nil else { return }
            throw ValidationError("--dn needs --format ldif")
        }

        func run() async throws {
            guard target != nil || !kind.isSecret || isatty(STDOUT_FILENO) != 1 else {
                throw Failure(.usage, "private keys cannot be written to a terminal", hints: ["name a file with -o"])
            }
            try OutputCheck(
                global.location,
                reading: [passwords.passwordFile, storePasswords.storePasswordFile]
            ).check([target], replacing: kind.isSecret ? SecretFileKind.allCases : [])
            let store = try await global.store(.readOnly, password: storePasswords.origin)
            guard let address else { return try await writeAll(in: store) }
            let account = try await store.accounts.account(for: address)
            if kind.isSecret, let target, FileIdentity(target) != nil {
                let loss = "\(target): the file exists, and may be the only copy of a private key"
                try Confirmation.ask(loss, unless: force, by: "--force")
            }
            let fingerprint = try identity?.only(among: account.identities.map(\.certificate.fingerprint))
            let bytes = try await contents(of: account, only: fingerprint, in: store)
            try Output.write(to: target, isPrivate: kind.isSecret) { try $0.write(bytes) }
        }

        /// Writes the public certificates of all accounts. An account without a certificate in use is skipped.
        private func writeAll(in store: Store) async throws {
            let accounts = try await store.accounts.all()
            let verdicts = try await store.verdicts(on: accounts, at: .now)
            var (changes, lines): ([DirectoryChange], [String]) = ([], [])
            for account in accounts {
                do {
                    let published = try await PublishedCertificates(
                        of: account,
                        only: nil,
                        keepsUnusable: false,
                        at: .now,
                        verdicts: verdicts,
                        in: store
                    )
                    if kind == .ldif {
                        changes.append(try await directoryChange(of: account, published, in: store))
                    } else {
                        lines += try published.all.map { try SMIMEARecord(of: account.address, $0).zoneLine }
                    }
                } catch let error as KeystoreError {
                    guard case .noUsableIdentity = error else { throw error }
                    Console.warning("left out: \(error)")
                }
            }
            guard !changes.isEmpty || !lines.isEmpty else {
                throw Failure(.noUser, "no account has a certificate that can be published")
            }
            let text = changes.isEmpty ? lines.joined() : DirectoryChange.ldif(of: changes)
            try Output.write(to: target, isPrivate: false) { try $0.write(Array(text.utf8)) }
        }

        private func contents(of account: Account, only fingerprint: Fingerprint?, in store: Store) async throws
            -> [UInt8]
        {
            if kind == .p12 {
                let exported = try await ExportedIdentities(of: account.address, only: fingerprint, in: store)
                return try passwords.withNewPassphrase { passphrase in
                    try PKCS12.encode(
                        exported.identities,
                        chain: exported.chain,
                        passphrase: passphrase,
                        compatibility: compat ?? .modern
                    )
                }
            }
            let published = try await PublishedCertificates(
                of: account,
                only: fingerprint,
                keepsUnusable: kind == .mobileconfig,
                at: .now,
                verdicts: store.verdicts(on: [account], at: .now),
                in: store
            )
            switch kind {
            case .p12, .mobileconfig: return try await profile(of: account, published, only: fingerprint, in: store)
            case .pem: return Array((published.all + published.authorities).map(\.pem).joined().utf8)
            case .vcard: return Array(ContactCard(of: account.address, name: account.name, published.all).text.utf8)
            case .smimea:
                return try published.all.flatMap { try Array(SMIMEARecord(of: account.address, $0).zoneLine.utf8) }
            case .ldif: return Array(try await directoryChange(of: account, published, in: store).ldif.utf8)
            }
        }

        private func directoryChange(
            of account: Account,
            _ published: PublishedCertificates,
            in store: Store
        ) async throws -> DirectoryChange {
            let own = try await ExportedIdentities(of: account.address, only: nil, in: store).identities
            return DirectoryChange(
                of: account.address,
                name: coversAll ? dn.map { DirectoryChange.name($0, for: account.address) } : dn,
                published.all,
                smimeCertificate: try published.signature(by: own, over: [], isAttached: false)
            )
        }

        private func profile(
            of account: Account,
            _ published: PublishedCertificates,
            only fingerprint: Fingerprint?,
            in store: Store
        ) async throws -> [UInt8] {
            let own = try await ExportedIdentities(of: account.address, only: fingerprint, in: store).identities
            let sealed = try passwords.withNewPassphrase { passphrase in
                try own.map { identity in
                    let pkcs12 = try PKCS12.encode(
                        [identity],
                        passphrase: passphrase,
                        compatibility: compat ?? .macos
                    )
                    return ConfigurationProfile.SealedIdentity(identity.certificate, pkcs12: pkcs12)
                }
            }
            let servers = servers.servers
            let mail = servers.map {
                ConfigurationProfile.MailAccount(
                    $0,
                    login: self.servers.login ?? account.address.text,
                    name: account.name
                )
            }
            let profile = ConfigurationProfile(of: account.address, sealed, current: published, account: mail)
            let xml = try profile.xml
            guard let signed = try published.signature(by: own, over: xml, isAttached: true) else {
                Console.warning("\(account.address): no identity can sign today, so the profile is not signed")
                return xml
            }
            return signed
        }
    }
}

extension PasswordOptions {
    /// Calls `body` with the passphrase for a file that is being created.
    fileprivate func withNewPassphrase<Value>(_ body: (borrowing Passphrase) throws -> Value) throws -> Value {
        let passphrase = try passphrase("for the exported file", isNew: true)
        guard !passphrase.isEmpty else { throw Failure(.usage, "an empty passphrase protects nothing") }
        return try body(passphrase)
    }
}

/// The formats that `export` writes.
enum ExportFormat: String, Choice {
    case p12, mobileconfig, pem, ldif, vcard, smimea

    /// Whether the format contains private keys.
    var isSecret: Bool { self == .p12 || self == .mobileconfig }

    /// Whether one file can contain the certificates of several accounts.
    var isForDirectories: Bool { self == .ldif || self == .smimea }
}
