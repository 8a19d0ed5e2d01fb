import ArgumentParser
import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.RecipientCommand {
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write the certificate that is used for an address, as PEM.",
            discussion: """
                  smime recipient export bob@example.org -o bob.pem
                  smime recipient export bob@example.org --all -o bob.pem
                  smime recipient export bob@example.org --fingerprint 55bc33f5
                """
        )

        @Argument(help: ArgumentHelp("The recipient's address, or @domain.", valueName: "addr"))
        var address: AddressScope
        @Option(help: .fingerprint("Write the certificate with this fingerprint instead"))
        var fingerprint: FingerprintPrefix?
        @Flag(help: "Write every certificate known for the address.")
        var all = false
        @Option(
            name: .letter(.output),
            help: ArgumentHelp("Write to this file, which appears only when complete.", valueName: "file"),
            completion: .file()
        )
        var output: String?
        @OptionGroup var time: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if all, fingerprint != nil { throw ValidationError("--all and --fingerprint exclude each other") }
        }

        func run() async throws {
            try OutputCheck(global.location, reading: []).check([output])
            let store = try await global.store(.readOnly)
            let lookup = try await store.lookup(
                systemAnchors: anchors.systemAnchors,
                lists: FolderLists(warn: Console.warning)
            )
            let answer = try await lookup.choices(for: [address], at: time.date, asking: all ? .everything : .missing)
            answer.warnings.forEach(Console.warning)
            guard let choice = answer.choices.first, !choice.candidates.isEmpty else {
                throw KeystoreError.unknownRecipient(address)
            }
            let pem = try certificates(of: choice).map(\.pem).joined()
            try Output.write(to: output == "-" ? nil : output) { try $0.write(pem) }
        }

        private func certificates(of choice: RecipientChoice) throws -> [Certificate] {
            let known = choice.candidates.map(\.recipient.certificate)
            if all { return known }
            if let fingerprint {
                let named = try fingerprint.only(among: known.map(\.fingerprint))
                return known.filter { $0.fingerprint == named }
            }
            guard let selected = choice.selected else {
                throw Failure(
                    .noUser,
                    "\(address): no usable certificate",
                    hints: ["see `smime recipient show \(shell: address)`; --all writes them anyway"]
                )
            }
            return [selected.certificate]
        }
    }
}

extension Certificate {
    /// The certificate as a PEM block (RFC 7468).
    var pem: String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }
}

extension SMIMECommand.RecipientCommand {
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import the certificates of a directory's LDIF file.",
            discussion: """
                Every certificate in userCertificate and userSMIMECertificate is stored for the addresses that it \
                names, and used if it chains to a trust anchor. The file may have any size. Importing the same file \
                again changes nothing.

                  ldapsearch -x -LLL -H ldaps://ldap.example.org -b dc=example,dc=org \\
                    '(userCertificate=*)' userCertificate > people.ldif
                  smime recipient import people.ldif
                  smime recipient import --json - < people.ldif
                """
        )

        @Argument(help: "The LDIF file; - is standard input.", completion: .file(extensions: ["ldif"]))
        var file: String
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let reader = try InputFile.open(file).reader()
            let store = try await global.store(.readWrite)
            var imports = DirectoryImport(into: store, at: .now)
            let outcome = try await imports.run(reader)
            try await store.close()
            guard outcome.new + outcome.known + outcome.intermediates > 0 else {
                throw Failure(
                    .badData,
                    "\(InputFile.name(file)): contains no LDIF entry with a usable certificate",
                    hints: ["to import files of certificates: smime import FILE"]
                )
            }
            if outcome.leftOut > 0 {
                Console.warning("\(outcome.leftOut) values were left out: no certificates, or without an address")
            }
            try report.print(DirectoryImportReport(outcome)) {
                "\(outcome.new) new, \(outcome.known) known; LDIF entries read: \(outcome.entries)\n"
            }
        }
    }
}

/// The result of importing a directory.
private struct DirectoryImportReport: Encodable {
    let entries: Int
    let intermediates: Int
    let known: Int
    let leftOut: Int
    let new: Int

    init(_ outcome: DirectoryImport.Outcome) {
        entries = outcome.entries
        intermediates = outcome.intermediates
        known = outcome.known
        leftOut = outcome.leftOut
        new = outcome.new
    }
}
