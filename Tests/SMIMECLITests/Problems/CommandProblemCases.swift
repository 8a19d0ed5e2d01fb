import Foundation
import PKIX
import TestSupport
import Testing

/// Problems that only commands report, when they import or learn something.
enum CommandProblemCases {
    static let recipes: [ProblemCode: ProblemCaseTests.Recipe] = [
        .accountUnused: { try importing("$CERTS/bob/cert.pem --account bob@example.com") },
        .addressMismatch: { try importing("$CERTS/alice/alice.p12 --account eve@example.com --password-file pw") },
        .notLearned: { try importing("mail.eml $CERTS/bob/cert.pem") },
    ]

    /// The problems that `smime import --json ARGUMENTS` reports, with a new store.
    private static func importing(_ arguments: String) throws -> [Problem] {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        try Data("test\n".utf8).write(to: folder.appending(path: "pw"))
        try Data("From: alice@example.com\r\n\r\nhello\r\n".utf8).write(to: folder.appending(path: "mail.eml"))
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = folder.appending(path: "home").path
        let runner = CommandRunner(try Tool.smime().path, environment: environment, folder: folder)
        let words = arguments.replacing("$CERTS", with: Fixtures.certs.path).split(separator: " ").map(String.init)
        let result = try runner.run(["import", "--json", "--no-system-anchors"] + words)
        try #require(result.status == 0, "\(result.errorText)")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.standardOutput))
        return try report.problems.map { line in
            let code = try #require(ProblemCode(rawValue: line.code))
            #expect(line.level == "warning")
            return Problem(warning: code, line.text)
        }
    }

    private struct Report: Decodable {
        struct Line: Decodable { let code, level, text: String }
        let problems: [Line]
    }
}
