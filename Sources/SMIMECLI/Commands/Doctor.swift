import ArgumentParser
import Foundation

extension SMIMECommand {
    struct Doctor: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the store and what it stands on, and say what to do.",
            discussion: """
                The status is 0 if all is well, 1 if something should be mended, and another if something is broken. With --mta the mail server's configuration is read, too, for \
                whether `smime filter` is where it should be.

                  smime doctor
                  smime doctor --mta postfix
                """
        )

        @Option(help: "Look at the configuration of this mail server, too: postfix.")
        var mta: MailServer?
        @Option(
            help: ArgumentHelp("Where the mail server's configuration is. (default: its own)", valueName: "dir"),
            completion: .directory
        )
        var mtaConfig: String?
        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            var examination = await Examination(of: global.location, at: time.date)
            if mta == .postfix { examination.examine(PostfixWiring.read(from: mtaConfig)) }
            try report.print(DoctorReport(examination)) {
                var table = TextTable()
                for finding in examination.findings { table.add(finding.level.rawValue, finding.code, finding.text) }
                return table.text
            }
            examination.findings.flatMap(\.hints).forEach(Console.hint)
            if let status = examination.findings.map(\.status).max(), status != .success { throw status }
        }
    }
}

/// The mail servers whose configuration can be looked at.
enum MailServer: String, Choice {
    case postfix
}

private struct DoctorReport: Encodable {
    struct Line: Encodable {
        let code: String
        let level: String
        let text: String
        let hints: [String]
    }

    let findings: [Line]

    init(_ examination: Examination) {
        findings = examination.findings.map {
            Line(code: $0.code, level: $0.level.rawValue, text: $0.text, hints: $0.hints)
        }
    }
}
