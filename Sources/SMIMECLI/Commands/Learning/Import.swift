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
            abstract: "Add keys, certificates and revocation lists to the store.",
            discussion: """
                The contents of each file decide what happens:
                - PKCS#12, or a private key with its certificate: an identity.
                - A renewed certificate for the key of an identity: an identity.
                - Other certificates: recipients or intermediates.
                - Signed mail: the sender's certificate is learned.
                - Mail that contains only certificates (smime-type=certs-only): as a file of certificates.
                Importing a file twice changes nothing.

                  smime import alice.p12
                  smime import --trust our-ca.pem
                """
        )

        @Argument(
            help: "PKCS#12, PEM, DER, PKCS#7 (.p7b, .p7c) or mail files; - is standard input.",
            completion: .file()
        )
        var files: [String]
        @Option(
            help: ArgumentHelp("Add the identities to this account, whatever addresses they name.", valueName: "addr")
        )
        var account: EmailAddress?
        @Flag(help: "Make CA certificates trust anchors, and trust other certificates without a chain.")
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
            guard (1...PKCS12.mostIterations).contains(maxIterations ?? 1) else {
                throw ValidationError("--max-iterations is a number from 1 to \(PKCS12.mostIterations)")
            }
        }

        func run() async throws {
            let contents = try ImportedFiles(
                files,
                passphrases: passwords,
                maximumIterations: maxIterations ?? PKCS12.maximumIterations
            ) { try InputFile.open($0, mayBeSecret: true) }
            var plan = ImportPlan(account: account, trust: trust, now: .now)
            // No store is created unless there is something to store.
            let existing = try await existingStore(for: contents)
            do {
                try plan.add(
                    contents,
                    renewals: try await existing?.renewals(among: contents.certificates, for: account) ?? []
                )
            } catch {
                try? await existing?.close()
                throw error
            }
            let store = if let existing { existing } else { try await writableStore() }
            var result = try await store.add(plan.batch, at: .now)
            var unreadable = UnreadablePaths()
            let harvested = await harvest(contents.mails, in: store, &result, &unreadable)
            plan.note(Self.problems(of: harvested, contents.mails))
            if !result.isFruitful, let failure = harvested.failure { throw failure }
            guard result.isFruitful || contents.mails.isEmpty else {
                throw Failure(.badData, plan.problems.last?.text ?? "nothing to import")
            }
            plan.problems.forEach { Console.warning($0.text) }
            let steps = try await store.nextSteps(after: result, systemAnchors: anchors.systemAnchors, at: .now)
            let hints = plan.advice.prefix(Self.maximumHints).map(\.text) + steps.map(\.text)
            let (accounts, notes) = try await standings(of: result, in: store)
            if harvested.failure == nil { try await store.close() } else { try? await store.close() }
            try report.print(ImportCommandReport(result, accounts, plan.problems)) { ImportCommandReport.text(result) }
            notes.forEach(Console.note)
            hints.forEach(Console.hint)
            if let failure = harvested.failure { throw failure }
            try [unreadable.worst].throwWorst()
        }

        private func writableStore() async throws -> Store {
            try await global.store(.readWrite, password: storePasswords.origin)
        }

        /// The store, if it is there and may have the key of a certificate in `contents`.
        private func existingStore(for contents: ImportedFiles) async throws -> Store? {
            guard contents.certificates.contains(where: { !$0.isCertificateAuthority }) else { return nil }
            return try await global.store(.readOnly).exists ? writableStore() : nil
        }

        /// How many hints about single certificates are given.
        private static let maximumHints = 5

        /// Learns from signed mail, which may be trusted because of what else is imported; in batches, so that a mailbox
        /// may have any size.
        private func harvest(
            _ mails: [(file: String, source: any ByteSource)],
            in store: Store,
            _ result: inout ImportReport,
            _ unreadable: inout UnreadablePaths
        ) async -> HarvestSummary {
            guard !mails.isEmpty else { return HarvestSummary() }
            let provider = StoreKeyProvider(store, systemAnchors: anchors.systemAnchors, warn: Console.warning)
            let harvest = Harvest(
                store: store,
                opener: MessageOpener(provider, at: .now),
                policy: learning.onChange,
                jobs: ProcessInfo.processInfo.activeProcessorCount
            )
            return await harvest.run(
                MailSources(opened: mails),
                unreadable: { unreadable.add($0) },
                learned: {
                    $0.announceChanges()
                    result.add($0)
                }
            )
        }

        /// The problems of mail from which nothing is learned.
        private static func problems(
            of report: HarvestSummary,
            _ mails: [(file: String, source: any ByteSource)]
        ) -> [Problem] {
            var problems = report.refused.map { refusal in
                Problem(.notLearned, "\(refusal.place.name): nothing learned: \(refusal.reason.text)")
            }
            if report.unsigned > 0 {
                let name = report.messages == 1 ? mails[0].file : "\(report.unsigned) of \(report.messages) messages"
                problems.append(Problem(.notLearned, "\(name): nothing learned: not signed"))
            }
            return problems
        }

        /// The accounts that got identities, and which of these is current where there are several.
        private func standings(
            of result: ImportReport,
            in store: Store
        ) async throws -> (accounts: [AccountReport], notes: [String]) {
            let accounts = try await store.accounts(after: result)
            let verdicts = try await store.verdicts(on: accounts, at: .now)
            return (
                accounts.map { AccountReport($0, at: .now, verdicts: verdicts) },
                accounts.flatMap { CurrentIdentities(of: $0, at: .now, verdicts: verdicts).notes }
            )
        }
    }
}

extension PasswordOptions: ImportPassphrases {
    func passphrase(for path: String) throws -> Passphrase { try passphrase("for \(InputFile.name(path))") }

    func noteWrongPassphrase(for path: String) {
        Console.warning("\(InputFile.name(path)): wrong passphrase, try again")
    }
}

extension ImportPlan.Advice {
    /// The advice in words, with the command that does it where there is one.
    fileprivate var text: String {
        switch self {
        case .addAsRecipient(let certificate, let address):
            "if \(certificate.subject) is a person and no authority: smime recipient add \(shell: address) FILE --trust"
        case .reissueAsEndEntity:
            "have it renewed with basicConstraints CA:FALSE, as by openssl req -x509 -addext basicConstraints=critical,CA:FALSE"
        }
    }
}

extension ImportStep {
    /// The step in words, with the command that does it.
    fileprivate var text: String {
        switch self {
        case .trust(let root): "to trust \(root.subject): smime trust add \(root.fingerprint)"
        case .findRoot(let certificate):
            "no anchor for \(certificate.issuer) yet: smime trust add FILE-OF-THE-ROOT"
        case .sign(let address): "then sign: smime sign --from \(shell: address) mail.eml"
        }
    }
}
