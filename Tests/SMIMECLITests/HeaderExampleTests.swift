import Foundation
import TestSupport
import Testing

/// The examples of RFC 9788 Appendix C: the report on each, and the result of decrypting it.
@Suite struct HeaderExampleTests {
    typealias Example = HeaderExample

    private static let signedOnly: [Example] = [
        Example(name: "smime-one-part", envelope: .onePart),
        Example(name: "smime-multipart", envelope: .multipart),
        Example(name: "smime-one-part-complex", envelope: .onePart, isComplex: true),
        Example(name: "smime-multipart-complex", envelope: .multipart, isComplex: true),
        Example(name: "smime-one-part-hp", envelope: .onePart, scheme: .clear),
        Example(name: "smime-multipart-hp", envelope: .multipart, scheme: .clear),
        Example(name: "smime-one-part-complex-rfc8551hp", envelope: .onePart, isComplex: true, scheme: .wrapped),
        Example(name: "smime-multipart-complex-rfc8551hp", envelope: .multipart, isComplex: true, scheme: .wrapped),
        Example(name: "smime-one-part-complex-hp", envelope: .onePart, isComplex: true, scheme: .clear),
        Example(name: "smime-multipart-complex-hp", envelope: .multipart, isComplex: true, scheme: .clear),
    ]

    private static let encrypted: [Example] =
        [
            Example(name: "smime-signed-enc", envelope: .signedEncrypted),
            Example(name: "smime-signed-enc-complex", envelope: .signedEncrypted, isComplex: true),
            Example(name: "smime-signed-enc-hp-none", envelope: .signedEncrypted, scheme: .cipher),
            Example(name: "smime-enc-hp-baseline", envelope: .encrypted, scheme: .cipher, policy: .baseline),
            Example(
                name: "smime-signed-enc-complex-rfc8551hp-baseline",
                envelope: .signedEncrypted,
                isComplex: true,
                scheme: .wrapped,
                policy: .baseline
            ),
        ]
        + [false, true].flatMap { isComplex in
            [(Example.Policy.baseline, "baseline"), (.shy, "shy")].flatMap { policy, word in
                [(false, false), (true, false), (false, true), (true, true)].map { isReply, isLegacy in
                    Example(
                        name: "smime-signed-enc\(isComplex ? "-complex" : "")-hp-\(word)\(isLegacy ? "-legacy" : "")"
                            + (isReply ? "-reply" : ""),
                        envelope: .signedEncrypted,
                        isComplex: isComplex,
                        scheme: .cipher,
                        policy: policy,
                        hasLegacyDisplay: isLegacy,
                        isReply: isReply
                    )
                }
            }
        }

    private struct Report: Decodable {
        struct Protection: Decodable {
            let scheme: String
            let signed, encrypted, differing, added: [String]
        }

        let status, summary, coverage: String
        let headerProtection: Protection?
        let headerConfidentiality: [String]
        let protectedHeaders: [String: String]
        let layers: [[String: JSONValue]]
    }

    /// Any JSON value; only the number of values matters.
    private struct JSONValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// A command with Bob's key and the anchor, in `folder`.
    private func smime(in folder: URL) throws -> CommandRunner {
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = folder.appending(path: "home").path
        environment["PASSPHRASE"] = "test"
        let runner = CommandRunner(try Tool.smime().path, environment: environment, folder: folder)
        let certs = Fixtures.certs.path
        for words in [
            ["import", "\(certs)/bob/bob.p12", "--password-env", "PASSPHRASE"],
            ["trust", "add", "\(certs)/ca/root.pem"],
        ] { #expect(try runner.run(words).status == 0) }
        return runner
    }

    private func report(_ result: CommandResult) throws -> Report {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Report.self, from: Data(result.standardOutput))
    }

    /// Checks the part of the report about the header.
    private func check(_ report: Report, of example: Example, isSigned: Bool) {
        let names = example.fields.map { $0.prefix { $0 != ":" }.lowercased() }.sorted()
        let scheme: String? =
            switch example.scheme {
            case .none: nil
            case .wrapped: "message-rfc822"
            case .clear: "hp-clear"
            case .cipher: "hp-cipher"
            }
        #expect(report.headerProtection?.scheme == scheme)
        #expect(report.headerConfidentiality == (scheme == nil ? [] : example.hidden))
        guard let protection = report.headerProtection else { return #expect(report.protectedHeaders.isEmpty) }
        #expect(protection.signed == (isSigned ? names : []))
        #expect(protection.encrypted == example.hidden)
        #expect(protection.differing.isEmpty)
        #expect(protection.added.isEmpty)
        #expect(report.protectedHeaders["subject"] == example.name)
        #expect(report.protectedHeaders["from"] == "Alice <alice@example.com>")
    }

    @Test func `the report of an unprotected mail names no protection`() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let runner = try smime(in: folder)
        let example = Example(name: "no-crypto", envelope: .none)
        let result = try runner.run(["verify", "--json"], input: .bytes(example.message()))
        #expect(result.status == 1)
        let report = try report(result)
        #expect(report.status == "unsigned" && report.summary == "unprotected" && report.coverage == "none")
        #expect(report.layers.isEmpty)
        check(report, of: example, isSigned: false)
    }

    @Test(arguments: signedOnly)
    func `a signed example is verified with its header`(example: Example) throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let result = try smime(in: folder).run(["verify", "--json"], input: .bytes(example.message()))
        #expect(result.status == 0, "\(result.errorText)")
        let report = try report(result)
        #expect(report.status == "valid" && report.summary == "verified" && report.coverage == "whole")
        #expect(report.layers.count == 1)
        check(report, of: example, isSigned: true)
    }

    @Test(arguments: encrypted)
    func `an encrypted example is opened, and shows what its author wrote`(example: Example) throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let runner = try smime(in: folder)
        let isSigned = example.envelope == .signedEncrypted
        let result = try runner.run(["decrypt", "--json", "-o", "opened"], input: .bytes(example.message()))
        #expect(result.status == 0, "\(result.errorText)")
        let report = try report(result)
        #expect(report.status == (isSigned ? "valid" : "unsigned"))
        #expect(report.summary == (isSigned ? "confidential-and-verified" : "confidential"))
        #expect(report.layers.count == (isSigned ? 2 : 1))
        check(report, of: example, isSigned: isSigned)
        let opened = try String(contentsOf: folder.appending(path: "opened"), encoding: .utf8)
        let lines = opened.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
        for field in example.fields { #expect(lines.filter { $0 == field }.count == 1, "\(field) in \(opened)") }
        #expect(!opened.contains("hp-legacy-display") && !opened.contains("header-protection-legacy-display"))
        #expect(!opened.contains("[...]") && !opened.contains("HP-Outer") && !opened.contains("hp=\"cipher\""))
        #expect(opened.contains(Example.text))
    }
}
