import Foundation
import TestSupport
import Testing

/// `sign` reads From as strictly as `verify` does.
@Suite struct SigningAuthorTests {
    private static let count = 400

    @Test func `mail that sign accepts is valid for verify, whatever its From`() throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let (mails, signed) = (home.folder.appending(path: "mails"), home.folder.appending(path: "signed"))
        for folder in [mails, signed] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        var random = SeededGenerator(65)
        let names = (0..<Self.count).map { "\($0).eml" }
        for name in names {
            let mail = "From: \(FromFieldGenerator.body(of: "alice@example.com", &random))\r\n\r\nhello\r\n"
            try Data(mail.utf8).write(to: mails.appending(path: name))
        }
        let result = try home.run(["sign", "-O", signed.path] + names.map { mails.appending(path: $0).path })
        #expect([65, 67].contains(result.status), "\(result.status) \(result.errorText.prefix(500))")
        let accepted = try FileManager.default.contentsOfDirectory(atPath: signed.path)
        #expect(accepted.count > Self.count / 10 && accepted.count < Self.count)
        let verified = try home.run(
            ["verify", "--no-harvest"] + accepted.map { signed.appending(path: $0).path }
        )
        let others = verified.text.split(separator: "\n").filter { $0.contains(".eml: ") && !$0.contains(": valid") }
        #expect(verified.status == 0, "\(others.prefix(5).joined(separator: "\n"))")
    }

    @Test(arguments: [
        ("From: alice@example.com, bob@example.com", 65, "From holds several mailboxes"),
        ("From: us: alice@example.com;", 65, "From is written as a group"),
        ("From: alice@example.com;", 65, "From"),
        ("From: \"bob@example.com\" <alice@example.com>", 65, "a display name in From shows another address"),
        ("From: Alice [x] <alice@example.com>", 65, "From"),
        ("From:", 65, "From is missing or holds no address"),
        ("From: bob@example.com", 67, "bob@example.com"),
    ])
    func `sign refuses a From that verify refuses, and says why`(
        _ field: String,
        _ status: Int32,
        _ why: String
    ) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let mail = Array("\(field)\r\nTo: bob@example.com\r\n\r\nhello\r\n".utf8)
        for arguments in [["sign"], ["sign", "--from", "alice@example.com"]] {
            let result = try home.run(arguments, input: mail)
            #expect(result.status == status && result.standardOutput.isEmpty, "\(result.status) \(result.errorText)")
            #expect(result.errorText.contains(why), "\(result.errorText)")
        }
        let filter = ["filter", "outgoing", "--stdout", "--log", "none", "--sender", "alice@example.com"]
        let plain = try home.run(filter + ["--sign", "available", "--", "bob@example.com"], input: mail)
        #expect(plain.status == 0 && !plain.text.contains("multipart/signed"), "\(plain.errorText)")
        #expect(plain.errorText.contains("warning: not signed: ") && plain.errorText.contains(why))
        let refused = try home.run(filter + ["--sign", "require", "--", "bob@example.com"], input: mail)
        #expect(refused.status == 67 && refused.standardOutput.isEmpty, "\(refused.status) \(refused.errorText)")
        #expect(refused.errorText.contains(why), "\(refused.errorText)")
    }
}
