import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct TrustCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trust",
            abstract: "Show and change trust anchors and revocation lists.",
            discussion: """
                  smime trust list
                  smime trust add our-ca.pem
                  smime trust add mail.eml
                  smime trust remove 9f86d081
                """,
            subcommands: [List.self, Add.self, Remove.self]
        )
    }
}

extension SMIMECommand.TrustCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the trust anchors of the store, and all revocation lists.",
            discussion: """
                A revocation list from the folder in revocation.directory is shown with its file name. The system's \
                anchors are not listed, but they are trusted, too, unless a command has --no-system-anchors.

                  smime trust list
                  smime trust list --json
                """
        )

        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            store.noteIfMissing()
            let anchors = try await store.anchors.all()
            let stored = try await store.anchors.revocationLists().map { (list: $0, file: String?.none) }
            let lists = try await stored + filedLists(of: store)
            try report.print(
                TrustReport(
                    anchors: anchors.map { AuthorityReport($0.certificate, added: $0.added) },
                    crls: lists.map { RevocationListReport($0.list, file: $0.file) }
                )
            ) {
                var table = TextTable()
                for anchor in anchors {
                    let certificate = anchor.certificate
                    table.add(
                        certificate.subject.shortName,
                        "until \(certificate.notAfter.day)",
                        certificate.fingerprint.short
                    )
                }
                for (list, file) in lists {
                    let end = list.nextUpdate
                    let state = end.map { $0 < .now ? "ended" : "until" } ?? "without an end"
                    table.add(
                        "revocation list of \(list.issuer.shortName)",
                        [state, end?.day].compactMap(\.self).joined(separator: " "),
                        file ?? list.fingerprint.short
                    )
                }
                if table.isEmpty { Console.note("no trust anchors of your own: those of the system apply") }
                return table.text
            }
        }

        /// The revocation lists in the folder that a setting names. An unreadable file or folder causes a warning.
        private func filedLists(of store: Store) async throws -> [(list: CertificateList, file: String?)] {
            do {
                return try await store.filedRevocationLists(warn: Console.warning).lists.map { ($0.list, $0.path) }
            } catch let error as SettingError {
                Console.warning("\(error)")
                return []
            }
        }
    }

    private struct TrustReport: Encodable {
        let anchors: [AuthorityReport]
        let crls: [RevocationListReport]
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Make the certificates in FILE trust anchors.",
            discussion: """
                Compare the fingerprint first. An intermediate CA certificate becomes an anchor, too.

                FILE may also be a signed mail, such as one with the verdict "Not trusted". The command takes the highest \
                CA certificate of the signer's chain, from the mail or the store, and asks whether you compared the \
                fingerprint, unless --fingerprint gives it.

                To trust a certificate that was imported with an identity, give its complete fingerprint. At a \
                terminal the first 8 digits are enough: the command shows subject, issuer and the whole fingerprint, \
                and asks.

                  smime trust add our-ca.pem
                  smime trust add sha256:…
                  smime trust add mail.eml --fingerprint sha256:…
                """
        )

        @Argument(
            help:
                "Certificate files, signed mail (- is standard input), or fingerprints from the store.",
            completion: .file()
        )
        var files: [String]
        @Option(help: ArgumentHelp("Trust only the certificate with this complete fingerprint.", valueName: "fpr"))
        var fingerprint: FingerprintPrefix?
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let fingerprint = try fingerprint?.complete()
            let known = files.compactMap { Fingerprint($0) }
            var batch = ImportBatch()
            for file in files where Fingerprint(file) == nil {
                if let prefix = FingerprintPrefix(file), access(file, F_OK) != 0 {
                    batch.anchors.append(try await confirmed(prefix))
                } else {
                    try await add(file, to: &batch)
                }
            }
            for fingerprint in known {
                batch.anchors.append(try await global.store(.readOnly).certificate(fingerprint))
            }
            if let fingerprint { batch.anchors.removeAll { $0.fingerprint != fingerprint } }
            guard !batch.anchors.isEmpty else {
                if let fingerprint {
                    throw Failure(.noUser, "\(files.joined(separator: ", ")): no certificate \(fingerprint) in it")
                }
                throw Failure(.badData, "\(files.joined(separator: ", ")): no certificate in it")
            }
            for certificate in batch.anchors where !certificate.isCertificateAuthority {
                Console.warning("\(certificate.subject): not an authority, so only this certificate itself is trusted")
            }
            let store = try await global.store(.readWrite)
            let added = try await store.add(batch, at: .now)
            try await store.close()
            try report.print(["anchors": added.anchors.map { AuthorityReport($0.certificate, new: $0.isNew) }]) {
                var table = TextTable()
                for entry in added.anchors {
                    let state = entry.isNew ? "new" : "known"
                    table.add(state, entry.certificate.subject.shortName, entry.certificate.fingerprint.short)
                }
                return table.text
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove trust anchors or revocation lists from the store.",
            discussion: """
                Asks before it removes a trust anchor, unless --yes is given.

                  smime trust remove sha256:9f86d081
                  smime trust remove 9f86d081 --yes
                """
        )

        @Argument(
            help: ArgumentHelp(
                "Fingerprints from `smime trust list`; the first 8 digits are enough if they are unique.",
                valueName: "fpr"
            )
        )
        var named: [FingerprintPrefix]
        @OptionGroup var confirmation: ConfirmationOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let known = try await global.store(.readOnly)
            let all = known.exists ? try await known.anchors.all() : []
            let listed = known.exists ? try await known.anchors.revocationLists().map(\.fingerprint) : []
            let fingerprints = try named.map { try $0.only(among: listed + all.map(\.certificate.fingerprint)) }
            let anchors = all.filter { fingerprints.contains($0.certificate.fingerprint) }
            if !anchors.isEmpty {
                let names = anchors.map { "\($0.certificate.subject)" }.joined(separator: "; ")
                let them = anchors.count == 1 ? "it" : "them"
                try confirmation.confirm("\(names): certificates that chain to \(them) would no longer be trusted")
            }
            let store = try await global.store(.readWrite)
            let lists = try await store.anchors.revocationLists().filter { fingerprints.contains($0.fingerprint) }
            let removed = try await store.anchors.remove(anchors.map(\.certificate.fingerprint))
            try await store.anchors.removeRevocationLists(lists.map(\.fingerprint))
            try await store.close()
            let report = TrustReport(
                anchors: removed.map { AuthorityReport($0) },
                crls: lists.map { RevocationListReport($0) }
            )
            try self.report.print(report) {
                removed.map { "removed \($0.subject) \($0.fingerprint)\n" }.joined()
                    + lists.map { "removed the revocation list of \($0.issuer) \($0.fingerprint)\n" }.joined()
            }
        }
    }
}
