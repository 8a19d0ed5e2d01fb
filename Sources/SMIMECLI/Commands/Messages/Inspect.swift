import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME
import SMIMEStore

extension SMIMECommand {
    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Show the structure of mail and certificate files.",
            discussion: """
                Prints the tree of MIME parts and CMS layers with algorithms, signers, recipients and certificates. \
                Needs no key, and verifies nothing: use `smime verify` to check signatures. The store is only used to \
                show the names of recipients and signers. The certificates of a PKCS#12 file are shown if its \
                passphrase is given.

                --extract prints data for other programs: certificates, signers (the signers' certificates) or \
                addresses (the addresses in the certificates).

                  smime inspect mail.eml
                  smime inspect --extract signers mail.eml > alice.pem
                  smime inspect --json alice.p12
                  smime inspect alice.p12 --password-file FILE
                  smime inspect --expires-within 30d alice.pem || echo renew
                """
        )

        @OptionGroup var input: InputOptions
        @Option(
            help: ArgumentHelp(
                "Print only certificates or signers as PEM, or addresses, one per line.",
                valueName: "what"
            )
        )
        var extract: Extraction?
        @Option(
            help: ArgumentHelp(
                "Exit with status 1 if a certificate has expired or expires within this time, such as 12h or 30d.",
                valueName: "time"
            ),
            transform: TimeOptions.interval
        )
        var expiresWithin: TimeInterval?
        @OptionGroup var form: FormOptions
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var times: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if extract != nil, report.json { throw ValidationError("--extract and --json exclude each other") }
            if input.paths.count > 1, passwords.isGiven {
                throw ValidationError("a passphrase can only be used with one file")
            }
        }

        func run() async throws {
            let form = form.inform.inspected
            let outcomes = try await Batch(input.paths).run { path in
                let source = try InputFile.open(path)
                let inspection = try Inspection(of: source, form: form)
                let isSound = !inspection.allProblems.contains { $0.level == .error }
                let opened = try open(inspection, source, path: path)
                let isEnding = try expires(inspection, opened, name: InputFile.name(path))
                return ((inspection, opened), isSound ? isEnding ? .negative : .success : .badData)
            }
            for outcome in outcomes {
                guard let (value, opened) = outcome.value else { continue }
                let name = InputFile.name(outcome.path)
                if let extract {
                    try extract.print(value, opened, file: name)
                    continue
                }
                if !report.json {
                    let names = await Self.names(in: value, global)
                    let text = InspectionText.text(value, opened: opened, file: name, names: names, at: times.date)
                    try Console.print(text)
                }
                let errors = value.allProblems.filter { $0.level == .error }
                for problem in errors.prefix(Self.maximumErrors) { Console.error("\(name): \(problem.text)") }
            }
            if report.json {
                var names: [EntityIdentifier: String] = [:]
                for (value, _) in outcomes.compactMap(\.value) {
                    names.merge(await Self.names(in: value, global)) { first, _ in first }
                }
                try FileReport.print(
                    outcomes.map { outcome in
                        let name = InputFile.name(outcome.path)
                        let report = outcome.value.map { value, opened in
                            InspectionOutput(value, opened: opened, file: name, names: names, at: times.date)
                        }
                        return (name, report, outcome.failure)
                    }
                )
            }
            try outcomes.map(\.status).throwWorst()
        }

        /// The names of owners, from the store, for certificates that the file refers to but does not include.
        private static func names(in inspection: Inspection, _ global: GlobalOptions) async -> [EntityIdentifier:
            String]
        {
            let identifiers = inspection.identifiers
            guard !identifiers.isEmpty, let store = try? await global.store(.readOnly), store.exists else { return [:] }
            var names: [EntityIdentifier: String] = [:]
            for identifier in identifiers {
                guard let known = try? await store.certificates(matching: [identifier]).first else { continue }
                names[identifier] = known.addresses.first ?? "\(known.subject)"
            }
            return names
        }

        /// Whether a certificate expires within the time that the user gave.
        ///
        /// - Throws: `Failure` with status 65 if the input contains no certificate.
        private func expires(_ inspection: Inspection, _ opened: OpenedPKCS12?, name: String) throws -> Bool {
            guard let expiresWithin else { return false }
            let certificates = Extraction.certificates(of: inspection, opened)
            guard !certificates.isEmpty else { throw Failure(.badData, "\(name): no certificate in it") }
            let last = times.date.addingTimeInterval(expiresWithin)
            return certificates.contains { $0.notAfter < last }
        }

        /// The contents of a PKCS#12 file; nil if the input is not PKCS#12, or if neither a passphrase nor `--expires-within` is
        /// given. For `--expires-within`, the user is asked for the passphrase.
        private func open(
            _ inspection: Inspection,
            _ source: any ByteSource,
            path: String
        ) throws -> OpenedPKCS12? {
            guard case .pkcs12 = inspection.subject, passwords.isGiven || expiresWithin != nil else { return nil }
            for case .pkcs12(let bytes) in try KeyMaterial.read(try InputFile.bytes(of: source, at: path)) {
                let file = try PKCS12(bytes, passphrase: try passwords.passphrase("for \(InputFile.name(path))"))
                return OpenedPKCS12(own: file.identities.map(\.certificate), others: file.certificates)
            }
            return nil
        }

        /// The most problems of one file that are printed on standard error. The report contains all problems.
        private static let maximumErrors = 10
    }
}

extension FormOptions.InputForm {
    fileprivate var inspected: Inspection.InputFormat {
        switch self {
        case .auto: .any
        case .mime: .message
        case .der: .der
        case .pem: .pem
        }
    }
}

extension Inspection {
    /// The identifiers of certificates that the file refers to but does not include.
    fileprivate var identifiers: [EntityIdentifier] {
        let named = outlines.flatMap { $0.recipients.compactMap(\.identifier) + $0.signers.map(\.identifier) }
        return named.filter { identifier in identifier.matching(certificates).isEmpty }
    }
}
