import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// Problems that prevent a message from being opened, or are noticed then, from `smime decrypt --json`.
enum OpeningProblemCases {
    static let recipes: [ProblemCode: ProblemCaseTests.Recipe] = [
        .certificatesOnly: { try decrypting("certs.eml") },
        .decryptionFailed: { try decrypting("torn.eml") },
        .needsSecret: { try decrypting("password.eml") },
        .noMIMEHeader: { try decrypting("text.eml", status: 0) },
        .notARecipient: { try decrypting("other.eml") },
        .notEncrypted: { try decrypting("mail.eml") },
        .unreadable: { try decrypting("missing.eml") },
    ]

    /// The problems in the JSON report of `smime decrypt FILE`, with alice's key in the store.
    private static func decrypting(_ file: String, status: Int32? = nil) throws -> [Problem] {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        func write(_ text: String, to name: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        try write("test\n", to: "pw")
        try write("From: alice@example.com\n\nhello\n", to: "mail.eml")
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = folder.appending(path: "home").path
        let runner = CommandRunner(try Tool.smime().path, environment: environment, folder: folder)
        func run(_ line: String) throws -> CommandResult {
            let words = line.replacing("$CERTS", with: Fixtures.certs.path).split(separator: " ").map(String.init)
            return try runner.run(words)
        }
        let chain = Fixtures.certs.appending(path: "alice/chain.pem").path
        let bag = try OpenSSLCommand().run("crl2pkcs7 -nocrl -certfile \(chain) -outform DER", input: [])
        let type = "application/pkcs7-mime; smime-type=certs-only; name=smime.p7c"
        let text = Data(bag).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try write(
            "From: alice@example.com\nContent-Type: \(type)\nContent-Transfer-Encoding: base64\n\n\(text)\n",
            to: "certs.eml"
        )
        for line in [
            "import $CERTS/alice/alice.p12 --password-file pw",
            "encrypt mail.eml --to-cert $CERTS/alice/cert.pem --no-self -o whole.eml",
            "encrypt mail.eml --to-cert $CERTS/bob/cert.pem --no-self -o other.eml",
            "encrypt mail.eml --with-password --password-file pw --no-self -o password.eml",
        ] {
            let result = try run(line)
            try #require(result.status == 0, "\(line): \(result.errorText)")
        }
        let whole = try String(contentsOf: folder.appending(path: "whole.eml"), encoding: .utf8)
        var lines = whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // A line near the end of the base64 contains only ciphertext and the tag.
        if let last = lines.lastIndex(where: { $0.count > 20 }) {
            lines[last] = (lines[last].hasPrefix("A") ? "B" : "A") + lines[last].dropFirst()
        }
        try write(lines.joined(separator: "\n"), to: "torn.eml")
        let certificate = Fixtures.certs.appending(path: "alice/cert.pem").path
        let ciphertext = try OpenSSLCommand().run(
            "cms -encrypt -aes-256-gcm \(certificate)",
            input: Array("hello".utf8)
        )
        try write("From: alice@example.com\n\(String(decoding: ciphertext, as: UTF8.self))", to: "text.eml")
        let result = try run("decrypt \(file) --json -o out")
        if let status { #expect(result.status == status) } else { #expect(result.status != 0) }
        return try JSONDecoder().decode(Report.self, from: Data(result.standardOutput)).problems.map { line in
            let code = try #require(ProblemCode(rawValue: line.code))
            if status != 0 { #expect(line.level == "error") }
            return line.level == "error" ? Problem(code, line.text) : Problem(warning: code, line.text)
        }
    }

    private struct Report: Decodable {
        struct Line: Decodable { let code, level, text: String }
        let problems: [Line]
    }
}
