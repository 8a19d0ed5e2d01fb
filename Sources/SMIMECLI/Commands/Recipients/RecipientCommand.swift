import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct RecipientCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recipient",
            abstract: "Show and change other people's certificates.",
            discussion: """
                  smime recipient list
                  smime recipient add bob@example.org bob.pem
                  smime recipient show bob@example.org
                """,
            subcommands: [
                List.self, Show.self, Add.self, Import.self, Remove.self, Trust.self, Distrust.self, Export.self,
            ]
        )
    }
}

extension SMIMECommand.RecipientCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add certificates for an address.",
            discussion: """
                FILE holds certificates, or is a mail that the recipient signed. A single certificate in a file need not \
                name the address. If a file has several, and always in a mail, only the certificates are added that name \
                the address or that --fingerprint selects. \
                --trust makes the certificates trusted even if no chain leads to a trust anchor: compare their \
                fingerprints first. A certificate for @domain is used for every address of the domain that has no \
                certificate.

                  smime recipient add bob@example.org bob.pem --trust
                  smime recipient add bob@example.org mail-from-bob.eml
                  smime recipient add @example.org gateway.pem
                """
        )

        @Argument(help: ArgumentHelp("The recipient's address, or @domain.", valueName: "addr"))
        var address: AddressScope
        @Argument(help: "Certificate files or signed mail; - is standard input.", completion: .file())
        var files: [String]
        @Option(
            help: ArgumentHelp(
                "Use only the certificate with this complete fingerprint; may be repeated.",
                valueName: "fpr"
            )
        )
        var fingerprint: [FingerprintPrefix] = []
        @Flag(help: "Trust the certificates, even if no chain leads to a trust anchor.")
        var trust = false
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            for prefix in fingerprint { _ = try prefix.complete() }
            let batch = try await batch()
            for item in batch.recipients { warn(of: item.certificate) }
            let store = try await global.store(.readWrite)
            let added = try await store.add(batch, at: .now)
            let untrusted = trust ? [] : try await untrusted(among: added.recipients.map(\.certificate), in: store)
            var hints: [String] = []
            for certificate in untrusted { hints.append(try await hint(at: certificate, in: store)) }
            try await store.close()
            try report.print(
                [
                    "recipients": added.recipients.map {
                        OwnedCertificateReport(recipient: ListedCertificate($0.address, $0.certificate), new: $0.isNew)
                    }
                ]
            ) {
                var table = TextTable()
                for entry in added.recipients {
                    table.add(entry.isNew ? "new" : "known", entry.address.text, entry.certificate.fingerprint.short)
                }
                return table.text
            }
            hints.forEach(Console.hint)
        }

        /// What to do about a certificate that is not trusted. If the certificate may be forged, this contains no command to
        /// pin it.
        private func hint(at certificate: Certificate, in store: Store) async throws -> String {
            if let text = try await store.otherCertificates(than: certificate, of: address).text {
                return "not trusted, and may be forged: \(text): smime recipient show \(shell: address)"
            }
            return
                "not trusted yet, so no mail is encrypted to it; compare the fingerprint with its owner, but not by mail, "
                + "then: smime recipient trust \(shell: address) --fingerprint \(certificate.fingerprint)"
        }

        /// The certificates among `certificates` that are not used, because they neither lead to a trust anchor nor are
        /// pinned.
        private func untrusted(among certificates: [Certificate], in store: Store) async throws -> [Certificate] {
            let pinned = try await store.recipients.certificates(for: address).filter { $0.trust == .pinned }
            let keys = Set(pinned.map(\.certificate.publicKeyDigest))
            var found: [Certificate] = []
            for certificate in certificates
            where !keys.contains(certificate.publicKeyDigest) && !certificate.isCertificateAuthority {
                let anchors = try await store.anchors.trust(judging: [certificate], systemAnchors: true)
                if !anchors.judge(certificate, purpose: .encryption, at: .now).isTrusted { found.append(certificate) }
            }
            return found
        }

        private func batch() async throws -> ImportBatch {
            let opening = try global.opening(.readOnly)
            let input = CertificateInput(opening)
            var (batch, leftOut) = (ImportBatch(), [Certificate]())
            for file in files {
                let first = batch.recipients.count
                var isMail = false
                switch try await input.read(file) {
                case .files(let items, let isInMail):
                    isMail = isInMail
                    var certificates: [Certificate] = []
                    do {
                        try batch.add(items, of: file) { certificate, _ in certificates.append(certificate) }
                    } catch { throw Failure(error, in: InputFile.name(file)) }
                    leftOut += batch.add(
                        certificates,
                        for: address,
                        named: named,
                        isChosen: !isMail,
                        isPinned: trust
                    )
                case .mail(let mail):
                    isMail = true
                    let signers = named.isEmpty ? mail.signers(for: address) : mail.signers
                    leftOut += batch.add(
                        signers,
                        authorities: mail.authorities(above: signers),
                        for: address,
                        named: named,
                        // Anyone can sign a mail with another person's From.
                        isChosen: false,
                        isPinned: trust
                    )
                }
                for certificate in batch.recipients.dropFirst(first).map(\.certificate) where trust {
                    try await opening.store().warnOfOthers(than: certificate, of: address)
                    if isMail, named.isEmpty { try FingerprintConfirmation(address).ask(certificate, file) }
                }
            }
            // Revocation lists in the same file need not concern the named certificates.
            if !named.isEmpty { batch.crls = [] }
            try check(batch, leftOut)
            return batch
        }

        /// The fingerprints of the certificates that the user selects; empty if the user selects none.
        private var named: Set<Fingerprint> { Set(fingerprint.compactMap(\.whole)) }

        /// Warns of certificates that are left out.
        ///
        /// - Throws: `Failure` if nothing is left, or a named certificate is missing.
        private func check(_ batch: ImportBatch, _ leftOut: [Certificate]) throws {
            for certificate in leftOut {
                let why =
                    certificate.names(address)
                    ? "a certificate in a mail is not used for a whole domain" : "it does not name \(address)"
                Console.warning("\(certificate.subject): left out, because \(why): \(certificate.fingerprint)")
            }
            let all = files.map(InputFile.name).joined(separator: ", ")
            if let missing = named.subtracting(batch.recipients.map(\.certificate.fingerprint)).min() {
                let why = "is not in it, is a CA certificate, or is not that of a signature"
                throw Failure(.noUser, "\(all): \(missing) \(why)")
            }
            guard batch.recipients.isEmpty else { return }
            guard leftOut.isEmpty else {
                let command = "smime recipient add \(shell: address) FILE --fingerprint FINGERPRINT"
                let step = "to use one or more of them: \(command)"
                let why =
                    leftOut.contains { $0.names(address) }
                    ? "a certificate in a mail is not used for a whole domain"
                    : "none of the certificates names \(address)"
                throw Failure(.badData, "\(all): \(why)", hints: [step])
            }
            let step = "to trust an authority: smime trust add FILE"
            throw Failure(.badData, "\(all): only certificates of authorities", hints: [step])
        }

        /// Warns if a certificate may be the wrong one.
        private func warn(of certificate: Certificate) {
            if !certificate.names(address) { Console.warning("\(certificate.subject): does not name \(address)") }
            if !certificate.publicKeyAlgorithm.isOffered {
                Console.warning(
                    "\(certificate.subject): this libcrypto does not support \(certificate.publicKeyAlgorithm) keys"
                )
            } else if !certificate.keyAllowsEncryption {
                Console.warning("\(certificate.subject): does not allow encryption")
            }
            if certificate.isCertificateAuthority, !trust {
                Console.warning("\(certificate.subject): is marked as an authority, and is not used unless pinned")
                Console.hint(
                    "compare its fingerprint, then: smime recipient trust \(shell: address) --fingerprint \(certificate.fingerprint)"
                )
            }
        }
    }
}
