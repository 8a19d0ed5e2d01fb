import ArgumentParser
import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEStore

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
                "\(outcome.new) new, \(outcome.known) known, of \(outcome.entries) entries\n"
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
