import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Add keys, certificates, and revocation lists.",
            discussion: """
                The contents of each file decide what happens:
                - PKCS#12, or a private key with its certificate: an identity.
                - A renewed certificate for the key of an identity: an identity.
                - Other certificates: recipients or intermediates.
                - Revocation lists: stored.
                - Signed mail: the sender's certificate is learned.
                - Mail that contains only certificates (smime-type=certs-only): the same as a file of certificates.
                Importing a file twice changes nothing. If an account already has a key, a new key is added only if the \
                key's certificate is trusted or has expired, or if --account or --trust is given.

                  smime import alice.p12
                  smime import bob.pem mail-from-carol.eml
                  smime import --trust our-ca.pem
                """
        )

        @Argument(
            help: "PKCS#12, PEM, DER, PKCS#7 (.p7b, .p7c) or mail files; - is standard input.",
            completion: .file()
        )
        var files: [String]
        @Option(
            help: ArgumentHelp(
                "Add the identities to this account, whatever addresses the certificates name.",
                valueName: "addr"
            )
        )
        var account: EmailAddress?
        @Flag(
            help:
                "Make CA certificates trust anchors, and trust other certificates even if no chain leads to an anchor."
        )
        var trust = false
        @Option(
            help: ArgumentHelp(
                """
                The highest number of key derivation iterations to accept in a PKCS#12 file or an encrypted key; \
                2000000 take about a second. (default: \(PKCS12.maximumIterations))
                """,
                valueName: "n"
            )
        )
        var maxIterations: Int?
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var storePasswords: StorePasswordOptions
        @OptionGroup var learning: LearningOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            try account?.checkAccountName()
            guard (1...PKCS12.libcryptoMaximumIterations).contains(maxIterations ?? 1) else {
                throw ValidationError("--max-iterations is a number from 1 to \(PKCS12.libcryptoMaximumIterations)")
            }
        }

        func run() async throws {
            let contents = try contents()
            let imports = FileImport(
                for: account,
                trusting: trust,
                onChange: learning.onChange,
                systemAnchors: anchors.systemAnchors,
                at: .now
            )
            // No store is created unless there is something to store, or mail to learn from.
            let existing = try await existingStore(for: contents)
            var unreadable = UnreadablePaths()
            let outcome: FileImport.Outcome
            do {
                outcome = try await imports.run(
                    contents,
                    into: existing,
                    or: writableStore,
                    unreadable: { unreadable.add($0) },
                    learned: { $0.announceChanges() },
                    warn: Console.warning,
                    describe: { Failure($0).message }
                )
            } catch {
                try? await existing?.close()
                throw error
            }
            outcome.problems.forEach { Console.warning($0.text) }
            if trust { try await warnOfOthers(outcome) }
            if outcome.failure == nil { try await outcome.store.close() } else { try? await outcome.store.close() }
            try print(outcome, outcome.failure.map { Failure($0) } ?? unreadable.worstFailure)
            if let failure = outcome.failure { throw failure }
            try [unreadable.worst].throwWorst()
        }

        /// The contents of all files. If one of several files cannot be read, a hint says that nothing was imported.
        private func contents() throws -> ImportedFiles {
            do {
                return try ImportedFiles(
                    files,
                    passphrases: passwords,
                    maximumIterations: maxIterations ?? PKCS12.maximumIterations
                ) { try InputFile.open($0, mayBeSecret: true, limit: KeyMaterial.limit) }
            } catch {
                let failure = Failure(error)
                guard files.count > 1 else { throw failure }
                throw failure.adding(hint: "nothing was imported; to import the other files, leave this one out")
            }
        }

        /// Warns of newly trusted certificates that differ from the certificates known for their addresses.
        private func warnOfOthers(_ outcome: FileImport.Outcome) async throws {
            let entries = outcome.report.recipients
            let new = Set(entries.filter(\.isNew).map(\.certificate))
            for entry in entries where entry.isNew {
                try await outcome.store.warnOfOthers(than: entry.certificate, of: entry.address, ignoring: new)
            }
        }

        private func print(_ outcome: FileImport.Outcome, _ failure: Failure?) throws {
            let accounts = outcome.accounts.map { AccountReport($0, at: .now, verdicts: outcome.verdicts) }
            try report.print(
                ImportCommandReport(outcome.report, accounts, problems: outcome.problems, failure: failure)
            ) {
                ImportCommandReport.text(outcome.report)
            }
            for account in outcome.accounts {
                CurrentIdentities(of: account, at: .now, verdicts: outcome.verdicts).notes.forEach(Console.note)
            }
            outcome.advice.prefix(Self.maximumHints).forEach { Console.hint($0.text) }
            outcome.nextSteps.forEach { Console.hint($0.text) }
        }

        private func writableStore() async throws -> Store {
            try await global.store(.readWrite, password: storePasswords.origin)
        }

        /// The store, if it exists and may contain the private key of a certificate in `contents`; nil otherwise.
        private func existingStore(for contents: ImportedFiles) async throws -> Store? {
            guard FileImport.mayRenew(contents) else { return nil }
            return try await global.store(.readOnly).exists ? writableStore() : nil
        }

        /// The most hints about single certificates that are given.
        private static let maximumHints = 5
    }
}

extension PasswordOptions: ImportPassphrases {
    func passphrase(for path: String) throws -> Passphrase { try passphrase("for \(InputFile.name(path))") }

    func noteWrongPassphrase(for path: String) {
        Console.warning("\(InputFile.name(path)): wrong passphrase, try again")
    }
}

extension ImportPlan.Advice {
    /// The advice in words, with a command if there is one.
    fileprivate var text: String {
        switch self {
        case .addAsRecipient(let certificate, let address):
            "if \(certificate.subject) is a person, not an authority: "
                + "smime recipient add \(shell: address) FILE --trust"
        case .reissueAsEndEntity:
            """
            replace it by a certificate that is not marked as an authority; if you made it with openssl req -x509, \
            add: -addext basicConstraints=critical,CA:FALSE
            """
        }
    }
}

extension ImportStep {
    /// The step in words, with the command for it.
    fileprivate var text: String {
        switch self {
        case .trust(let root):
            "to trust \(root.subject), compare the fingerprint with "
                + (root.isCertificateAuthority ? "the one that the authority publishes" : "its owner")
                + ", then: smime trust add \(root.fingerprint)"
        case .findIssuer(let certificate):
            "the certificate of \(certificate.issuer), which issued \(certificate.subject), is missing: "
                + "smime import FILE-OF-THE-ISSUER"
        case .sign(let address): "to sign: smime sign --from \(shell: address) mail.eml"
        }
    }
}
