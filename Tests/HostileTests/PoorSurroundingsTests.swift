import Foundation
import TestSupport
import Testing

/// Accounts, store and environment as the threats have them, through the command.
@Suite struct PoorSurroundingsTests {
    private static let mail = Array("From: alice@example.com\r\nTo: alice@example.com\r\n\r\nhello\r\n".utf8)

    @Test(arguments: [4, 5, 6, 7, 8, 10, 16])
    func `few descriptors: the whole result, or a word about it`(count: Int) throws {
        let home = try Home()
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

    /// What other programs take libcrypto's configuration, its modules and its anchors from, and what changes words and days.
    @Test(arguments: [
        ("OPENSSL_CONF", "evil.cnf"), ("OPENSSL_CONF", "missing.cnf"), ("OPENSSL_MODULES", "."),
        ("OPENSSL_ENGINES", "."),
        ("SSL_CERT_FILE", "root.pem"), ("SSL_CERT_DIR", "."), ("LC_ALL", "tr_TR.UTF-8"), ("LANG", "../../etc"),
        ("TZ", "/etc/passwd"), ("TZ", "Pacific/Kiritimati"), ("COLUMNS", "0"), ("TMPDIR", "tmp"),
    ])
    func `the environment changes no verdict`(name: String, value: String) throws {
        let home = try Home()
        try home.fill("alice")
        let tmp = home.folder.appending(path: "tmp")
        let settings =
            "openssl_conf = a\n[a]\nproviders = b\nalg_section = e\n[b]\nevil = c\n[c]\nmodule = ./evil.so\nactivate = 1\n"
        try Data((settings + "[e]\ndefault_properties = fips=yes\n").utf8).write(to: tmp.appending(path: "evil.cnf"))
        try Data(Fixtures.cert("untrusted/root.pem")).write(to: tmp.appending(path: "root.pem"))
        func status(_ person: Person) throws -> Int32 {
            let mail = MailForge().signed(MailForge.text, try SignedForge(MailForge.text, by: person).encoded())
            return try home.run(["verify", "--no-harvest"], input: mail, environment: [name: value]).status
        }
        #expect(try status(Person.alice.get()) == 0)
        #expect(try status(Person("mallory")) == 1)
    }

    /// `reject` of "Accounts" and "Sending": addresses that are none, or would be something else to another program.
    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "a/../b", "alice", "@example.com", "alice@", "-oProxy@example.com",
        "alice@example.com\r\nBcc: mallory@example.com", "alice@example.com\n", "alice@exa\u{1}mple.com", "",
        String(repeating: "a", count: 5000) + "@example.com", "alice@example..com",
    ])
    func `no such name becomes an account or a recipient`(name: String) throws {
        let home = try Home()
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

    /// `reject` of "Learning": only a valid, trusted signature by the sender over the whole message teaches.
    @Test(arguments: ["tampered", "untrusted", "unsigned", "part", "other sender"])
    func `nothing is learned from what is not a good signature by the sender`(kind: String) throws {
        let home = try Home()
        try home.fill("alice")
        let bob = try Person.bob.get()
        let good = MailForge(from: "bob@example.com").signed(
            MailForge.text,
            try SignedForge(MailForge.text, by: bob).encoded()
        )
        #expect(try home.run(["recipient", "list"]).text.contains("bob@example.com") == false)
        let mail: [UInt8]
        switch kind {
        case "tampered":
            mail = Array(String(decoding: good, as: UTF8.self).replacing("text/plain", with: "text/html").utf8)
        case "untrusted":
            let root = try home.run(["trust", "list", "--json"]).text
            let fingerprint = try #require(root.firstMatch(of: /"(?:sha256:)?([0-9a-f]{64})"/)).output.1
            _ = try home.run(["trust", "remove", "sha256:\(fingerprint)"])
            mail = good
        case "unsigned": mail = MailForge(from: "bob@example.com").mail(MailForge.text)
        case "part":
            let part = SignedShape().entity(MailForge.text, try SignedForge(MailForge.text, by: bob).encoded())
            mail = MailForge(from: "bob@example.com").mail(Multipart.entity("mixed", SignedCases.evil, part))
        default:
            mail = MailForge(from: "mallory@example.com")
                .signed(MailForge.text, try SignedForge(MailForge.text, by: bob).encoded())
        }
        let result = try home.run(["harvest"], input: mail)
        #expect(result.signal == nil && result.status != 70)
        let known = try home.run(["recipient", "list"]).text
        #expect(!known.contains("bob@example.com") && !known.contains("mallory@example.com"), "\(known)")
        // The very mail teaches where all is well, or this test would say nothing.
        if kind == "tampered" {
            _ = try home.run(["harvest"], input: good)
            #expect(try home.run(["recipient", "list"]).text.contains("bob@example.com"))
        }
    }
}
