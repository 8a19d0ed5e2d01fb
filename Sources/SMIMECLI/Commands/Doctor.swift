import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME

extension SMIMECommand {
    struct Doctor: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Check the store and what it stands on, and say what to do.",
            discussion: """
                The status is 0 unless something is broken.

                  smime doctor
                """
        )

        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let examination = await Examination(of: global.location, at: time.date)
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

/// Everything `doctor` looks at.
private struct Examination {
    struct Finding {
        enum Level: String { case ok, warning, error }

        let code: String
        let level: Level
        let text: String
        var hints: [String] = []
        /// What the finding makes of the exit status.
        var status = ExitStatus.success
    }

    private(set) var findings: [Finding] = []

    init(of location: StoreLocation, at time: Date) async {
        examineLibrary()
        examineClock(time)
        do {
            let store = try await Store.open(location, mode: .readOnly)
            try await examine(store, at: time)
        } catch {
            let failure = Failure(error)
            add("store", .error, failure.message, failure.hints, status: failure.status)
        }
    }

    private mutating func examineLibrary() {
        add("libcrypto", .ok, Libcrypto.version)
        if !Libcrypto.hasLegacyProvider {
            add(
                "libcrypto-legacy",
                .warning,
                "no legacy provider, so old PKCS#12 files (RC2-40) cannot be read",
                ["install the package that has ossl-modules/legacy.so"]
            )
        }
        let system = SystemAnchors()
        if system.isReadable {
            add("system-anchors", .ok, system.folder)
        } else {
            add(
                "system-anchors",
                .warning,
                "\(system.folder): cannot be read",
                ["install ca-certificates, or use anchors of your own: smime trust add FILE"]
            )
        }
    }

    /// A clock that was never set stands at the beginning of time or before this program was written.
    private mutating func examineClock(_ time: Date) {
        let written = Date(timeIntervalSince1970: 1_767_225_600)
        if time < written {
            add("clock", .error, "the clock says \(time.day)", ["set the clock"], status: .configuration)
        } else {
            add("clock", .ok, time.formatted(.iso8601))
        }
    }

    private mutating func examine(_ store: Store, at time: Date) async throws {
        guard store.exists else {
            add("store", .ok, "\(store.location.path): none yet", ["bring in your key: smime import FILE"])
            return
        }
        for damage in try await store.check() {
            add("store", .error, damage, ["put back a copy of the store"], status: .configuration)
        }
        add("store", .ok, store.location.database)
        let anchors = try await store.anchors.all()
        add("anchors", .ok, "\(anchors.count) in the store")
        for anchor in anchors where !anchor.certificate.isValid(at: time) {
            add("anchor-expired", .warning, "\(anchor.certificate.subject): not valid now")
        }
        let accounts = try await store.accounts.all()
        add("accounts", .ok, "\(accounts.count)")
        for account in accounts { examine(account, at: time) }
    }

    private mutating func examine(_ account: Account, at time: Date) {
        for purpose in [IdentitySelection.Purpose.signing, .encryption] {
            let current = IdentitySelection.current(
                of: account.identities,
                for: account.address,
                purpose: purpose,
                at: time
            )
            guard let current else {
                add(
                    "identity-missing",
                    .warning,
                    "\(account.address): no current identity for \(purpose.rawValue)",
                    ["see smime account show \(account.address)"]
                )
                continue
            }
            let end = current.certificate.notAfter
            if end < time.addingTimeInterval(30 * 86_400) {
                add(
                    "identity-expiring",
                    .warning,
                    "\(account.address): the identity for \(purpose.rawValue) ends \(end.day)",
                    ["have a new certificate issued, then smime import FILE"]
                )
            }
        }
    }

    private mutating func add(
        _ code: String,
        _ level: Finding.Level,
        _ text: String,
        _ hints: [String] = [],
        status: ExitStatus = .success
    ) {
        findings.append(Finding(code: code, level: level, text: text, hints: hints, status: status))
    }
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
