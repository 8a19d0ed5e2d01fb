import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import SMIME
import Streams

extension SMIMECommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Bring keys, certificates and revocation lists into the store.",
            discussion: """
                What a file holds decides what happens: PKCS#12, or a private key with its certificate, becomes an \
                identity; certificates become recipients or intermediates; from signed mail its sender's certificate \
                is learned, and from mail that only brings certificates (smime-type=certs-only) those are taken as from a file. \
                Importing twice changes nothing.

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
            help: ArgumentHelp("The account that gets the identities, whatever addresses they name.", valueName: "addr")
        )
        var account: EmailAddress?
        @Flag(help: "Make CA certificates trust anchors, and believe the others without a chain.")
        var trust = false
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var storePasswords: StorePasswordOptions
        @OptionGroup var learning: LearningOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws { try account?.checkAccountName() }

        func run() async throws {
            let contents = try ImportedFiles(files, passwords: passwords)
            var plan = ImportPlan(account: account, trust: trust, now: .now)
            try plan.add(contents)
            let store = try await global.store(.readWrite, password: storePasswords.origin)
            var result = try await store.add(plan.batch, at: .now)
            let harvested = try await harvest(contents.mails, in: store, &result)
            plan.note(Self.problems(of: harvested, contents.mails))
            if !result.isFruitful, let failure = harvested.failure { throw failure }
            guard result.isFruitful || contents.mails.isEmpty else {
                throw Failure(.badData, plan.problems.last?.text ?? "nothing to import")
            }
            plan.problems.forEach { Console.warning($0.text) }
            let hints = try await plan.hints.prefix(Self.maximumHints) + nextSteps(for: result, in: store)
            if harvested.failure == nil { try store.close() } else { try? store.close() }
            try report.print(ImportCommandReport(result, plan.problems)) { ImportCommandReport.text(result) }
            hints.forEach(Console.hint)
            if let failure = harvested.failure { throw failure }
            try [harvested.worst].throwWorst()
        }

        /// How many hints about single certificates are given.
        private static let maximumHints = 5

        /// Learns from signed mail, which may be trusted because of what else is imported; in batches, so that a mailbox
        /// may have any size.
        private func harvest(
            _ mails: [(file: String, source: any ByteSource)],
            in store: Store,
            _ result: inout ImportReport
        ) async throws -> HarvestReport {
            guard !mails.isEmpty else { return HarvestReport() }
            let provider = StoreKeyProvider(store: store, systemAnchors: anchors.systemAnchors)
            let harvest = Harvest(
                store: store,
                opener: MessageOpener(provider, at: .now),
                policy: learning.onChange,
                jobs: ProcessInfo.processInfo.activeProcessorCount
            )
            return await harvest.run(MailSources(opened: mails), learned: { result.add($0) })
        }

        /// What is wrong with mail that nothing is learned from.
        private static func problems(
            of report: HarvestReport,
            _ mails: [(file: String, source: any ByteSource)]
        ) -> [Problem] {
            var problems = report.refused.map { refusal in
                let name = refusal.message.map { "\(refusal.file), message \($0)" } ?? refusal.file
                return Problem(.notLearned, "\(name): nothing learned: \(refusal.reason)")
            }
            if report.unsigned > 0 {
                let name = report.messages == 1 ? mails[0].file : "\(report.unsigned) of \(report.messages) messages"
                problems.append(Problem(.notLearned, "\(name): nothing learned: not signed"))
            }
            return problems
        }

        /// What a person would do next: trust the root if nobody does yet, then use the identity.
        private func nextSteps(for result: ImportReport, in store: Store) async throws -> [String] {
            guard let first = result.identities.first(where: { $0.certificate.isValid(at: .now) }) else { return [] }
            let trust = try await store.anchors.trust(
                judging: [first.certificate],
                systemAnchors: anchors.systemAnchors
            )
            let verdict = trust.judge(first.certificate, purpose: .signing, at: .now)
            var hints: [String] = []
            if !verdict.isTrusted {
                let root = result.intermediates.map(\.certificate).last(where: \.isSelfIssued)
                hints.append(
                    root.map { "to trust \($0.subject): smime trust add \($0.fingerprint)" }
                        ?? "nothing here trusts \(first.certificate.issuer) yet: smime trust add FILE-OF-THE-ROOT"
                )
            }
            if first.certificate.canSign { hints.append("then sign: smime sign --from \(first.address) mail.eml") }
            return hints
        }
    }
}

/// What is to be stored, and what is odd about it.
struct ImportPlan {
    let account: EmailAddress?
    let trust: Bool
    let now: Date
    private(set) var batch = ImportBatch()
    private(set) var problems: [Problem] = []
    /// What could be done next about some of it.
    private(set) var hints: [String] = []

    init(account: EmailAddress?, trust: Bool, now: Date) {
        self.account = account
        self.trust = trust
        self.now = now
    }

    mutating func note(_ problems: [Problem]) { self.problems += problems }

    /// Plans for everything in `contents`.
    ///
    /// - Throws: `Failure` with status 67 for an identity without any address and no account, or if nothing is left
    ///   that could be stored.
    mutating func add(_ contents: ImportedFiles) throws {
        problems += contents.problems
        if let account, contents.identities.isEmpty {
            warn(.accountUnused, "there is no private key in it that \(account) could get")
        }
        var seen: Set<Certificate> = []
        for identity in contents.identities where seen.insert(identity.certificate).inserted {
            try add(identity.certificate, identity.key)
        }
        for certificate in contents.certificates where seen.insert(certificate).inserted { add(certificate) }
        batch.crls += Set(contents.certificateLists)
        guard !batch.isEmpty || !contents.mails.isEmpty else {
            throw Failure(
                .noUser,
                problems.last?.text ?? "nothing to import",
                hints: ["name the address yourself: smime recipient add ADDR FILE"]
            )
        }
    }

    private mutating func add(_ certificate: Certificate, _ key: PrivateKey) throws {
        let named = certificate.emailAddresses
        guard let accounts = account.map({ [$0] }) ?? (named.isEmpty ? nil : named) else {
            throw Failure(
                .noUser,
                "\(certificate.subject): the certificate names no address",
                hints: ["say whose it is with --account ADDR"]
            )
        }
        if let account, !certificate.names(account) {
            warn(.addressMismatch, "the certificate of \(account) names \(Self.list(named.map(\.text)))")
        }
        noteOddities(of: certificate)
        batch.identities.append(
            .init(certificate: certificate, key: key, accounts: accounts, isAssigned: account != nil)
        )
        guard trust else { return }
        batch.recipients.append(
            .init(certificate: certificate, addresses: accounts.map { AddressScope($0) }, isPinned: true)
        )
    }

    private mutating func add(_ certificate: Certificate) {
        let addresses = certificate.recipientScopes
        if certificate.isCertificateAuthority || (certificate.isSelfIssued && addresses.isEmpty) {
            batch.intermediates.append(certificate)
            if trust { batch.anchors.append(certificate) }
            if certificate.isSelfIssued, certificate.keyAllowsEncryption, let address = addresses.first {
                hints.append(
                    "if \(certificate.subject) is a person and no authority: smime recipient add \(address) FILE --trust"
                )
            }
            return
        }
        guard !addresses.isEmpty else {
            return warn(.certificateNoAddress, "\(certificate.subject): names no address, and was left out")
        }
        noteOddities(of: certificate)
        batch.recipients.append(.init(certificate: certificate, addresses: addresses, isPinned: trust))
    }

    private mutating func noteOddities(of certificate: Certificate) {
        let name = certificate.subject.description
        if certificate.notAfter < now { warn(.certificateExpired, "\(name): expired on \(certificate.notAfter.day)") }
        if certificate.notBefore > now {
            warn(.certificateNotYetValid, "\(name): not valid before \(certificate.notBefore.day)")
        }
        if certificate.hasMalformedAddress {
            warn(.certificateAddressMalformed, "\(name): an address in it is malformed")
        }
        if certificate.publicKeyAlgorithm.isWeak {
            warn(.weakKey, "\(name): \(certificate.publicKeyAlgorithm) is weak")
        }
        if certificate.isCertificateAuthority {
            warn(.endEntityIsCA, "\(name): says that it is an authority's (CA:TRUE), so mail signed with it is refused")
            hints.append(
                "have it issued anew with basicConstraints CA:FALSE, as by openssl req -x509 -addext basicConstraints=critical,CA:FALSE"
            )
        } else if !certificate.canSign, !certificate.canEncrypt {
            warn(.keyUsage, "\(name): its usage allows neither signing nor encrypting mail")
        }
    }

    private mutating func warn(_ code: ProblemCode, _ text: String) { problems.append(Problem(warning: code, text)) }

    private static func list(_ addresses: [String]) -> String {
        addresses.isEmpty ? "no address" : addresses.joined(separator: ", ")
    }
}

/// The report of `import`.
private struct ImportCommandReport: Encodable {
    let identities: [IdentityReport]
    let recipients: [RecipientEntryReport]
    let intermediates: [AuthorityReport]
    let anchors: [AuthorityReport]
    let crls: [RevocationListReport]
    let problems: [ProblemReport]

    init(_ result: ImportReport, _ problems: [Problem]) {
        identities = result.identities.map { IdentityReport($0.address, $0.certificate, new: $0.isNew) }
        recipients = result.recipients.map { RecipientEntryReport($0.address, $0.certificate, new: $0.isNew) }
        intermediates = result.intermediates.map { AuthorityReport($0.certificate, new: $0.isNew) }
        anchors = result.anchors.map { AuthorityReport($0.certificate, new: $0.isNew) }
        crls = result.crls.map(RevocationListReport.init)
        self.problems = problems.map(ProblemReport.init)
    }

    static func text(_ result: ImportReport) -> String {
        var table = TextTable()
        for (kind, entries) in [("identity", result.identities), ("recipient", result.recipients)] {
            for entry in entries {
                let certificate = entry.certificate
                table.add(
                    state(entry.isNew),
                    kind,
                    entry.address.text,
                    validity(certificate),
                    "\(certificate.fingerprint)"
                )
            }
        }
        for (kind, entries) in [("intermediate", result.intermediates), ("anchor", result.anchors)] {
            for entry in entries {
                let certificate = entry.certificate
                table.add(
                    state(entry.isNew),
                    kind,
                    certificate.subject.description,
                    validity(certificate),
                    "\(certificate.fingerprint)"
                )
            }
        }
        for entry in result.crls {
            let until = entry.list.nextUpdate.map { " until \($0.day)" } ?? ""
            table.add(
                state(entry.isNew),
                "crl",
                entry.list.issuer.description,
                "\(entry.list.thisUpdate.day)\(until)",
                "\(entry.list.fingerprint)"
            )
        }
        return table.text
    }

    private static func state(_ isNew: Bool) -> String { isNew ? "new" : "known" }

    private static func validity(_ certificate: Certificate) -> String {
        "\(certificate.notBefore.day) to \(certificate.notAfter.day)"
    }
}

extension String {
    /// The text as one word of a shell command.
    fileprivate var shellQuoted: String {
        let isPlain = !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./+@:,=".contains($0)) }
        return isPlain ? self : "'\(replacing("'", with: #"'\''"#))'"
    }
}
