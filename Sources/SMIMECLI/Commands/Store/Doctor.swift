import ArgumentParser
import Foundation
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct Doctor: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the store and this host, and say what to repair.",
            discussion: """
                Lists all findings, the worst first, and says what to do about each of them. The status is 0 if all is \
                well, 1 if something should be repaired soon, and 2 if mail is stopped or will be. --mta also checks \
                that the mail server's configuration uses `smime filter` or `smime serve` correctly.

                  smime doctor
                  smime doctor --mta postfix
                  smime doctor --json
                """
        )

        @Option(help: "Also check the configuration of this mail server: postfix.")
        var mta: MailServer?
        @Option(
            help: ArgumentHelp(
                "The directory of the mail server's configuration. (default: the server's own)",
                valueName: "dir"
            ),
            completion: .directory
        )
        var mtaConfig: String?
        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let doctor = SMIMEAgent.Doctor(at: time.date, warn: Console.warning)
            var findings = await doctor.findings {
                try await Store.open(
                    global.location,
                    mode: .readOnly,
                    passphrase: try StorePassphrase(origin: nil, asks: false).source()
                )
            }
            // If the file is missing, the service is not set up. If the file is unreadable, it belongs to the mail
            // administrator.
            let options = (try? String(contentsOfFile: ServeListener.optionsFile, encoding: .utf8)) ?? ""
            let listeners = ServeListener.all(in: options)
            findings += doctor.findings(of: listeners)
            if mta == .postfix {
                let configuration = PostfixConfiguration(
                    from: mtaConfig,
                    listeners: listeners,
                    nextHops: ServeListener.nextHops(in: options),
                    postconf: Postconf.run
                )
                findings += doctor.findings(of: configuration, timeLimit: Int(FilterStatus.timeLimit))
            }
            let ranked = findings.ranked
            try report.print(DoctorReport(ranked)) {
                var table = TextTable()
                table.wrapsLast = true
                for finding in ranked {
                    table.add(finding.level.rawValue, finding.code, finding.shownText)
                    for hint in finding.remedies.flatMap(\.hints) {
                        table.add("", "", "hint: \(Console.namingHome(in: hint))")
                    }
                }
                return table.text
            }
            if let status = findings.map(\.status).max(), status != .success { throw status }
        }
    }
}

/// The mail servers whose configuration can be checked.
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

    init(_ ranked: [DoctorFinding]) {
        findings = ranked.map {
            Line(code: $0.code, level: $0.level.rawValue, text: $0.shownText, hints: $0.remedies.flatMap(\.hints))
        }
    }
}
