import ArgumentParser
import Foundation
import Keystore

extension SMIMECommand.StoreCommand {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Look for damage, for loose permissions, and for what nothing needs.",
            discussion: """
                The status is 0 for a sound store, 1 if something should be tidied, 77 if others could read or change it, \
                and 78 if it is damaged. Private keys are opened, too, if that needs nobody at the terminal.

                  smime store check --json
                """
        )

        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let loose = Store.looseFiles(of: global.location)
            let (findings, protection) = loose.isEmpty ? try await examine() : (loose, nil)
            try report.print(CheckReport(global.location, findings, protection)) {
                guard !findings.isEmpty else { return "\(global.location.database): sound\n" }
                var table = TextTable()
                for finding in findings { table.add(finding.level.rawValue, finding.code.rawValue, finding.text) }
                return table.text
            }
            if let status = findings.map(Self.status).max(), status != .success { throw status }
        }

        private func examine() async throws -> ([StoreFinding], Protection?) {
            let passphrase = try StorePassphrase(origin: passwords.origin, asks: false).source()
            let store = try await Store.open(global.location, mode: .readOnly, passphrase: passphrase)
            guard store.exists else { throw global.missingStore }
            return (try await store.check(), try await store.protection())
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
    let findings: [Line]
    let protection: String?
    let sound: Bool

    init(_ location: StoreLocation, _ findings: [StoreFinding], _ protection: Protection?) {
        database = location.database
        self.findings = findings.map { Line(code: $0.code.rawValue, level: $0.level.rawValue, text: $0.text) }
        self.protection = protection?.rawValue
        sound = findings.allSatisfy { $0.level == .note }
    }
}
