import Foundation
import TestSupport
import Testing

/// Hostile accounts, stores and environments, tested through the command.
@Suite struct HostileEnvironmentTests {
    private static let mail = Array("From: alice@example.com\r\nTo: alice@example.com\r\n\r\nhello\r\n".utf8)

    @Test(arguments: [4, 5, 6, 7, 8, 10, 16])
    func `with few file descriptors the result is whole or an error is reported`(count: Int) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        var runner = CommandRunner("bash", environment: home.environment, folder: home.folder)
        runner.timeLimit = .seconds(60)
        let output = home.folder.appending(path: "signed").path
        let script = "ulimit -n \(count); exec '\(home.program)' sign -o '\(output)'"
        let result = try runner.run(["-c", script], input: .bytes(Self.mail))
        #expect(
            !result.isTimeout && result.signal == nil && result.status < 128,
            "\(result.status) \(result.errorText)"
        )
        #expect(!result.errorText.contains("no identity") && !result.errorText.contains("empty"), "\(result.errorText)")
        if result.status == 0 {
            #expect(try home.run(["verify", "--no-harvest", output]).status == 0)
        } else {
            #expect(!result.errorText.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: output))
        }
    }

    /// A shell command that writes on a full disk or under a limit on file sizes, and its required status.
    struct Shortage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let status: Int32

        init(_ command: String, _ status: Int32 = 74) { (testDescription, self.status) = (command, status) }
    }

    @Test(arguments: [
        Shortage("smime sign big >/dev/full"), Shortage("smime sign --opaque big >/dev/full"),
        Shortage("smime encrypt --to alice@example.com big >/dev/full"), Shortage("smime decrypt secret >/dev/full"),
        Shortage("smime verify signed --content - >/dev/full"), Shortage("smime verify signed --json >/dev/full"),
        Shortage("smime inspect signed >/dev/full"), Shortage("smime account list >/dev/full"),
        Shortage("smime export alice@example.com --password-file pw >/dev/full"),
        Shortage("smime filter outgoing --sender alice@example.com --stdout -- alice@example.com <big >/dev/full", 75),
        Shortage(
            "smime filter incoming --sender alice@example.com --stdout -- alice@example.com <signed >/dev/full",
            75
        ),
        Shortage("ulimit -f 8; smime sign big -o out"), Shortage("ulimit -f 8; smime decrypt secret -o out"),
        Shortage("ulimit -f 8; smime encrypt --to alice@example.com big -o out"),
        Shortage("ulimit -f 8; smime verify signed --content out"),
        Shortage("ulimit -f 8; smime store backup -o out"),
        Shortage("ulimit -f 8; smime import bob.p12 --password-file pw"),
        Shortage("ulimit -f 8; smime account add new@example.com"),
        Shortage(
            "ulimit -f 8; smime filter outgoing --sender alice@example.com --stdout -- alice@example.com <big >out2",
            75
        ),
    ])
    func `a full disk loses nothing and is reported`(shortage: Shortage) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        func file(_ name: String) -> URL { home.folder.appending(path: name) }
        let lines = String(repeating: "a line of a mail that is not too short\r\n", count: 4000)
        try Data(Self.mail + Array(lines.utf8)).write(to: file("big"))
        try Data("test".utf8).write(to: file("pw"))
        try FileManager.default.copyItem(at: Fixtures.certs.appending(path: "bob/bob.p12"), to: file("bob.p12"))
        #expect(try home.run(["sign", file("big").path, "-o", file("signed").path]).status == 0)
        let secret = ["encrypt", "--to", "alice@example.com", file("big").path, "-o", file("secret").path]
        #expect(try home.run(secret).status == 0)
        // An existing file must not change.
        let old = Data("what was there".utf8)
        try old.write(to: file("out"))
        let (accounts, check) = (try home.run(["account", "list"]).text, ["store", "check"])
        let script = shortage.testDescription.replacing("smime ", with: "'\(home.program)' ")
        var runner = CommandRunner("bash", environment: home.environment, folder: home.folder)
        runner.timeLimit = .seconds(60)
        let result = try runner.run(["-c", script])
        #expect(result.status == shortage.status && result.signal == nil, "\(result.status) \(result.errorText)")
        #expect(!result.errorText.isEmpty)
        #expect(try Data(contentsOf: file("out")) == old)
        let left = try FileManager.default.contentsOfDirectory(atPath: home.folder.path).filter { $0.hasPrefix("out.") }
        #expect(left.isEmpty)
        #expect(try home.run(check).status == 0)
        #expect(try home.run(["account", "list"]).text == accounts)
    }

    /// Address space in KiB, from what the loader alone needs to enough for everything.
    @Test(arguments: [50_000, 100_000, 150_000, 200_000, 300_000, 400_000, 600_000, 1_000_000, 4_000_000])
    func `with little memory the result is whole or absent`(kibibytes: Int) throws {
        guard !Tool.isSanitized else {
            print("note: skipped, the command was built with a sanitizer, which reserves terabytes of addresses")
            return
        }
        let home = try CommandEnvironment()
        try home.fill("alice")
        let output = home.folder.appending(path: "signed").path
        var runner = CommandRunner("bash", environment: home.environment, folder: home.folder)
        runner.timeLimit = .seconds(60)
        let result = try runner.run(
            ["-c", "ulimit -v \(kibibytes); exec '\(home.program)' sign -o '\(output)'"],
            input: .bytes(Self.mail)
        )
        // If there is no room even for the loader, the command does not start.
        #expect(result.signal == nil && [0, 75, 127].contains(result.status), "\(result.status) \(result.errorText)")
        if result.status == 0 {
            #expect(try home.run(["verify", "--no-harvest", output]).status == 0)
        } else {
            #expect(!FileManager.default.fileExists(atPath: output))
        }
        #expect(kibibytes < 4_000_000 || result.status == 0, "\(result.status) \(result.errorText)")
        let mail = try runner.run(
            [
                "-c",
                "ulimit -v \(kibibytes); exec '\(home.program)' filter outgoing --sender alice@example.com --stdout -- b@example.com",
            ],
            input: .bytes(Self.mail)
        )
        let isWhole = mail.text.contains("multipart/signed") && mail.text.contains("pkcs7-signature")
        #expect(mail.status == 0 ? isWhole : [75, 127].contains(mail.status), "\(mail.status) \(mail.errorText)")
        #expect(try home.run(["store", "check"]).status == 0)
    }

    /// Variables from which other programs take libcrypto's configuration, modules and anchors, and those that change
    /// language and dates.
    @Test(arguments: [
        ("OPENSSL_CONF", "evil.cnf"), ("OPENSSL_CONF", "missing.cnf"), ("OPENSSL_MODULES", "."),
        ("OPENSSL_ENGINES", "."),
        ("SSL_CERT_FILE", "root.pem"), ("SSL_CERT_DIR", "."), ("LC_ALL", "tr_TR.UTF-8"), ("LANG", "../../etc"),
        ("TZ", "/etc/passwd"), ("TZ", "Pacific/Kiritimati"), ("COLUMNS", "0"), ("TMPDIR", "tmp"),
    ])
    func `the environment changes no verdict`(name: String, value: String) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let tmp = home.folder.appending(path: "tmp")
        let settings =
            "openssl_conf = a\n[a]\nproviders = b\nalg_section = e\n[b]\nevil = c\n[c]\nmodule = ./evil.so\nactivate = 1\n"
        try Data((settings + "[e]\ndefault_properties = fips=yes\n").utf8).write(to: tmp.appending(path: "evil.cnf"))
        try Data(Fixtures.cert("untrusted/root.pem")).write(to: tmp.appending(path: "root.pem"))
        func status(_ person: Person) throws -> Int32 {
            let mail = MailForge().signed(
                MailForge.text,
                signature: try SignedForge(MailForge.text, by: person).encoded()
            )
            return try home.run(["verify", "--no-harvest"], input: mail, environment: [name: value]).status
        }
        #expect(try status(Person.alice.get()) == 0)
        #expect(try status(Person("mallory")) == 1)
    }

    /// The classes marked `reject` under "Accounts" and "Sending": addresses that are invalid or that other programs would
    /// interpret differently.
    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "a/../b", "alice", "@example.com", "alice@", "-oProxy@example.com",
        "alice@example.com\r\nBcc: mallory@example.com", "alice@example.com\n", "alice@exa\u{1}mple.com", "",
        String(repeating: "a", count: 5000) + "@example.com", "alice@example..com",
    ])
    func `an invalid address becomes neither an account nor a recipient`(name: String) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let before = try home.run(["account", "list"]).text
        let output = home.folder.appending(path: "out").path
        for command in [
            ["account", "show", name], ["account", "add", name], ["encrypt", "--to", name, "-o", output],
        ] {
            let result = try home.run(command, input: Self.mail)
            #expect(
                result.status != 0 && result.signal == nil && result.status != 70,
                "\(command[0]) \(result.errorText)"
            )
        }
        #expect(!FileManager.default.fileExists(atPath: output))
        #expect(try home.run(["account", "list"]).text == before)
    }

    /// The class "nothing learned" under "Learning certificates": a certificate is only learned from a valid, trusted signature
    /// by the sender over the whole message.
    @Test(arguments: ["tampered", "untrusted", "unsigned", "part", "other sender"])
    func `nothing is learned without a valid signature by the sender`(kind: String) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let bob = try Person.bob.get()
        let good = MailForge(from: "bob@example.com").signed(
            MailForge.text,
            signature: try SignedForge(MailForge.text, by: bob).encoded()
        )
        #expect(try home.run(["recipient", "list"]).text.contains("bob@example.com") == false)
        let mail: [UInt8]
        switch kind {
        case "tampered":
            mail = Array(String(decoding: good, as: UTF8.self).replacing("text/plain", with: "text/html").utf8)
        case "untrusted":
            let root = try home.run(["trust", "list", "--json"]).text
            let fingerprint = try #require(root.firstMatch(of: /"(?:sha256:)?([0-9a-f]{64})"/)).output.1
            _ = try home.run(["trust", "remove", "--yes", "sha256:\(fingerprint)"])
            mail = good
        case "unsigned": mail = MailForge(from: "bob@example.com").mail(MailForge.text)
        case "part":
            let part = SignedShape().entity(
                MailForge.text,
                signature: try SignedForge(MailForge.text, by: bob).encoded()
            )
            mail = MailForge(from: "bob@example.com").mail(Multipart.entity("mixed", SignedCases.evil, part))
        default:
            mail = MailForge(from: "mallory@example.com")
                .signed(MailForge.text, signature: try SignedForge(MailForge.text, by: bob).encoded())
        }
        let result = try home.run(["harvest"], input: mail)
        #expect(result.signal == nil && result.status != 70)
        let known = try home.run(["recipient", "list"]).text
        #expect(!known.contains("bob@example.com") && !known.contains("mallory@example.com"), "\(known)")
        // Counter-check: the certificate is learned from the same mail in a normal environment.
        if kind == "tampered" {
            _ = try home.run(["harvest"], input: good)
            #expect(try home.run(["recipient", "list"]).text.contains("bob@example.com"))
        }
    }
}
