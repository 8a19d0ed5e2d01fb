import Foundation
import TestSupport
import Testing

/// Passphrases typed at a terminal.
@Suite struct TerminalTests: ~Copyable {
    private let temporary: TemporaryFolder
    private let runner: CommandRunner
    private let question = "smime: passphrase of the store: "

    init() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = folder.appending(path: "home").path
        environment["CREDENTIALS_DIRECTORY"] = nil
        environment["XDG_RUNTIME_DIR"] = folder.path
        let runner = CommandRunner(try Tool.smime().path, environment: environment, folder: folder)
        for name in ["one", "two", "three"] {
            let mail = "From: alice@example.com\nTo: bob@example.com\n\nHello \(name)\n"
            try Data(mail.utf8).write(to: folder.appending(path: "\(name).eml"))
        }
        let file = Fixtures.certs.appending(path: "alice/alice.p12").path
        let (imported, shown) = try runner.run(["import", file], answering: ["test"])
        #expect(imported.status == 0, "\(imported.errorText)\(shown)")
        let (locked, asked) = try runner.run(["store", "protect", "passphrase"], answering: ["correct", "correct"])
        #expect(locked.status == 0, "\(locked.errorText)\(asked)")
        self.runner = runner
        self.temporary = temporary
    }

    private func asked(_ shown: String) -> Int { shown.components(separatedBy: question).count - 1 }

    @Test func `the store passphrase is asked for once and never shown`() throws {
        let (signed, shown) = try runner.run(["sign", "one.eml"], answering: ["correct"])
        #expect(signed.status == 0, "\(signed.errorText)")
        #expect(asked(shown) == 1, "\(shown)")
        #expect(!shown.contains("correct"))
        let (listed, silent) = try runner.run(["list"], answering: ["correct"])
        #expect(listed.status == 0)
        #expect(silent.isEmpty)
    }

    @Test(arguments: [["sign", "one.eml"], ["sign", "one.eml", "--from", "alice@example.com"]])
    func `after two wrong passphrases the command gives up`(arguments: [String]) throws {
        let (result, shown) = try runner.run(arguments, answering: ["a1", "b2", "c3", "correct", "correct"])
        #expect(result.status == 77)
        #expect(result.text.isEmpty)
        #expect(asked(shown) == 2, "\(shown)")
        #expect(result.errorText.components(separatedBy: "error: ").count == 2, "\(result.errorText)")
        #expect(result.errorText.contains("wrong passphrase"))
    }

    @Test func `an unlocked store asks once for several commands, until it is locked`() throws {
        let (unlocked, shown) = try runner.run(["unlock", "--for", "1h"], answering: ["wrong", "correct"])
        #expect(unlocked.status == 0, "\(unlocked.errorText)")
        #expect(asked(shown) == 2, "\(shown)")
        for name in ["one", "two"] {
            let (signed, silent) = try runner.run(["sign", "\(name).eml"], answering: [])
            #expect(signed.status == 0, "\(signed.errorText)")
            #expect(asked(silent) == 0, "\(silent)")
        }
        // Commands that may end the unlocking need the passphrase.
        let (rekeyed, again) = try runner.run(["store", "rekey"], answering: ["correct"])
        #expect(rekeyed.status == 0, "\(rekeyed.errorText)")
        #expect(asked(again) == 1, "\(again)")
        let (signed, last) = try runner.run(["sign", "one.eml"], answering: ["correct"])
        #expect(signed.status == 0, "\(signed.errorText)")
        #expect(asked(last) == 1, "\(last)")
        let (locked, none) = try runner.run(["lock"], answering: [])
        #expect(locked.status == 0 && none.isEmpty, "\(locked.errorText)")
    }

    @Test func `private keys are removed only after confirmation`() throws {
        let remove = ["account", "remove", "alice@example.com"]
        for answer in ["", "n", "no way"] {
            let (kept, shown) = try runner.run(remove, answering: [answer])
            #expect(kept.status == 77, "\(kept.errorText)")
            #expect(kept.errorText.contains("not confirmed"))
            #expect(shown.contains("private key would be destroyed"), "\(shown)")
        }
        let (removed, _) = try runner.run(remove, answering: ["y"])
        #expect(removed.status == 0, "\(removed.errorText)")
    }

    @Test func `certificates are pinned only after confirmation`() throws {
        let certificate = Fixtures.certs.appending(path: "bob/cert.pem").path
        let (added, _) = try runner.run(["recipient", "add", "bob@example.com", certificate], answering: [])
        #expect(added.status == 0, "\(added.errorText)")
        let trust = ["recipient", "trust", "bob@example.com"]
        let (kept, question) = try runner.run(trust, answering: ["n"])
        #expect(kept.status == 77, "\(kept.errorText)")
        #expect(question.contains("would be trusted for bob@example.com"), "\(question)")
        #expect(
            question.contains("sha256:55bc33f5b778dce1871fabb5d257edbf3f058100f84f5ca4705ae095b77213ce"),
            "\(question)"
        )
        let (pinned, _) = try runner.run(trust, answering: ["y"])
        #expect(pinned.status == 0, "\(pinned.errorText)")
        #expect(pinned.text.contains("pinned bob@example.com"))
        let (again, silent) = try runner.run(trust, answering: [])
        #expect(again.status == 0 && silent.isEmpty, "\(again.errorText)\(silent)")
    }

    @Test func `the first digits of a fingerprint are enough at a terminal, which shows the rest and asks`() throws {
        let certificate = Fixtures.certs.appending(path: "bob/cert.pem").path
        let (added, _) = try runner.run(["recipient", "add", "bob@example.com", certificate], answering: [])
        #expect(added.status == 0, "\(added.errorText)")
        let verbs = [
            ["recipient", "trust", "bob@example.com", "--fingerprint", "55bc33f5"], ["trust", "add", "2666cccb"],
        ]
        let shown = [
            [
                "sha256:55bc33f5b778dce1871fabb5d257edbf3f058100f84f5ca4705ae095b77213ce",
                "issued by \"CN=Example Test Mail CA",
            ],
            [
                "sha256:2666cccb56876556b3007cc0b622b73d887dd67d8dceb1b9d1b42451ceb89f8e",
                "issued by \"CN=Example Test Root",
            ],
        ]
        for (verb, parts) in zip(verbs, shown) {
            let (kept, question) = try runner.run(verb, answering: ["n"])
            #expect(kept.status == 77, "\(kept.errorText)")
            for part in parts { #expect(question.contains(part), "\(question)") }
            let (trusted, _) = try runner.run(verb, answering: ["y"])
            #expect(trusted.status == 0, "\(trusted.errorText)")
            #expect(!trusted.text.isEmpty)
            // Nothing would change, so there is no question.
            let (again, none) = try runner.run(verb, answering: [])
            #expect(again.status == 0 && none.isEmpty, "\(again.errorText)\(none)")
            let (unknown, silent) = try runner.run(Array(verb.dropLast()) + ["00000000"], answering: ["y"])
            #expect(unknown.status == 67 && silent.isEmpty, "\(unknown.errorText)\(silent)")
            let refused = try runner.run(verb)
            #expect(
                refused.status == 64 && refused.errorText.contains("sha256: and 64 hexadecimal digits"),
                "\(refused.errorText)"
            )
        }
    }

    @Test func `export overwrites a file only after confirmation`() throws {
        let file = temporary.file("alice.p12")
        try Data("keep".utf8).write(to: file)
        let export = ["export", "alice@example.com", "-o", "alice.p12"]
        let (kept, _) = try runner.run(export, answering: ["n"])
        #expect(kept.status == 77, "\(kept.errorText)")
        #expect(try Data(contentsOf: file) == Data("keep".utf8))
        let (written, shown) = try runner.run(export, answering: ["yes", "correct", "new", "new"])
        #expect(written.status == 0, "\(written.errorText)\(shown)")
        #expect(try Data(contentsOf: file).count > 1000)
    }

    @Test func `after a wrong passphrase another one can be typed`() throws {
        let (result, shown) = try runner.run(["sign", "one.eml"], answering: ["wrong", "correct"])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(asked(shown) == 2, "\(shown)")
    }

    @Test func `an empty passphrase is reported at once`() throws {
        let (result, shown) = try runner.run(["sign", "one.eml"], answering: [])
        #expect(result.status == 77)
        #expect(asked(shown) == 1, "\(shown)")
        #expect(result.errorText.contains("no passphrase was entered"))
    }

    @Test func `for several files the passphrase is asked for once, and a failure is reported once`() throws {
        let files = ["one.eml", "two.eml", "three.eml"]
        let (signed, shown) = try runner.run(["sign", "--output-dir", "out"] + files, answering: ["correct"])
        #expect(signed.status == 0, "\(signed.errorText)")
        #expect(asked(shown) == 1, "\(shown)")
        let wrong = ["a1", "b2", "c3", "d4", "e5"]
        let (refused, again) = try runner.run(["sign", "--output-dir", "none"] + files, answering: wrong)
        #expect(refused.status == 77)
        #expect(asked(again) == 2, "\(again)")
        #expect(refused.errorText.components(separatedBy: "error: ").count == 2, "\(refused.errorText)")
    }

    @Test func `a new passphrase is asked for after the present one`() throws {
        let change = ["store", "protect", "passphrase"]
        let (refused, questions) = try runner.run(change, answering: ["next", "next", "next"])
        #expect(refused.status == 77)
        #expect(refused.errorText.contains("wrong passphrase"), "\(refused.errorText)\(questions)")
        let (changed, shown) = try runner.run(change, answering: ["correct", "next", "next"])
        #expect(changed.status == 0, "\(changed.errorText)\(shown)")
        let (signed, last) = try runner.run(["sign", "one.eml"], answering: ["next"])
        #expect(signed.status == 0, "\(signed.errorText)\(last)")
    }

    @Test func `typed passphrases change the store key, make a backup and restore it`() throws {
        let (rekeyed, shown) = try runner.run(["store", "rekey"], answering: ["correct"])
        #expect(rekeyed.status == 0, "\(rekeyed.errorText)\(shown)")
        let save = ["account", "backup", "alice@example.com", "-o", "alice.backup"]
        let (saved, questions) = try runner.run(save, answering: ["of the file", "of the file", "correct"])
        #expect(saved.status == 0, "\(saved.errorText)\(questions)")
        let restore = ["--home", "elsewhere", "account", "restore", "alice.backup"]
        let (restored, last) = try runner.run(restore, answering: ["of the file"])
        #expect(restored.status == 0, "\(restored.errorText)\(last)")
        let (signed, none) = try runner.run(["--home", "elsewhere", "sign", "one.eml"], answering: [])
        #expect(signed.status == 0, "\(signed.errorText)")
        #expect(none.isEmpty)
    }
}
