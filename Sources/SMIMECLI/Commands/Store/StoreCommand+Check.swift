import ArgumentParser
import Foundation
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.StoreCommand {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Find damage and loose permissions, and remove old data.",
            discussion: """
                The status is 0 for a sound store, 1 if it should be cleaned up, 77 if other users could read or \
                change it, and 78 if it is damaged. Private keys are checked, too, unless a passphrase would \
                have to be typed.

                Removes fetched and learned data that is no longer needed: expired OCSP responses, expired revocation \
                lists that have successors, and CA certificates that no chain uses. --dry-run only lists them. \
                --repair also removes certificates that nothing refers to, and fetched and learned data that cannot be \
                read, and corrects what the database says of certificates. Keys and files are never removed.

                  smime store check --json
                  smime store check --dry-run
                  smime store check --repair
                """
        )

        @Flag(help: "Also remove unused and unreadable data, and correct the database.")
        var repair = false
        @Flag(help: "Print what would be done, and change nothing.")
        var dryRun = false
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let location = try global.location
            let check = try await StoreCheck.run(
                of: location,
                cleaning: dryRun ? .nothing : repair ? .unused : .ended,
                at: .now,
                openForReading: reader,
                openForWriting: { try await global.store(.readWrite) }
            )
            let (found, ended) = (check.findings, check.ended)
            try report.print(CheckReport(location, check)) {
                var table = TextTable()
                for finding in ended {
                    table.add(dryRun ? "would forget" : "forgot", finding.code.rawValue, finding.text)
                }
                if let count = check.forgotten, count > 0 {
                    table.add(
                        "repaired",
                        StoreFinding.Code.orphanCertificate.rawValue,
                        "forgot \(counted(count, "certificate"))"
                    )
                }
                if let count = check.repaired, count > 0 {
                    table.add(
                        "repaired",
                        StoreFinding.Code.unreadable.rawValue,
                        "removed or corrected \(counted(count, "row"))"
                    )
                }
                guard !found.isEmpty else { return table.text + "\(location.database): sound\n" }
                for finding in found { table.add(finding.level.rawValue, finding.code.rawValue, finding.text) }
                return table.text
            }
            if !repair, found.contains(where: \.isUnusedCertificate) {
                Console.hint("to remove the certificates that nothing refers to: smime store check --repair")
            }
            if !repair, found.contains(where: \.isWrongRow) {
                Console.hint("to remove what cannot be read, and to correct the rest: smime store check --repair")
            }
            if let status = found.map(Self.status).max(), status != .success { throw status }
        }

        /// The store, opened for reading, with its passphrase unless a person would have to type it.
        private func reader() async throws -> Store {
            let passphrase = try StorePassphrase(origin: passwords.origin, asks: false).source()
            let store = try await Store.open(global.location, mode: .readOnly, passphrase: passphrase)
            guard store.exists else { throw try global.missingStore }
            return store
        }

        private static func status(_ finding: StoreFinding) -> ExitStatus {
            switch (finding.level, finding.code) {
            case (.note, _): .success
            case (.warning, _): .negative
            case (.error, .permissions): .noPermission
            case (.error, _): .configuration
            }
        }
    }
}

private struct CheckReport: Encodable {
    struct Line: Encodable {
        let code: String
        let level: String
        let text: String
    }

    let database: String
    /// The fetched and learned data that was removed because it is no longer needed; with --dry-run the data that would be
    /// removed.
    let ended: [Line]
    let findings: [Line]
    /// How many certificates were removed; nil if no repair was requested.
    let forgotten: Int?
    let protection: String?
    /// How many rows were removed or corrected; nil if no repair was requested.
    let repaired: Int?
    let sound: Bool

    init(_ location: StoreLocation, _ check: StoreCheck) {
        ended = check.ended.map { Line(code: $0.code.rawValue, level: $0.level.rawValue, text: $0.text) }
        forgotten = check.forgotten
        database = location.database
        findings = check.findings.map { Line(code: $0.code.rawValue, level: $0.level.rawValue, text: $0.text) }
        protection = check.protection?.rawValue
        repaired = check.repaired
        sound = check.findings.allSatisfy { $0.level == .note }
    }
}
