import Foundation
import TestSupport
import Testing

/// Damaged stores: the command answers with the right status, reveals nothing in clear, and invents nothing.
@Suite struct StoreVerdictTests {
    private static let hasSQLite = (try? CommandRunner("sqlite3").run(["--version"]).status) == 0
    /// Further commands for every damaged store.
    private static let questions = [
        "account show alice@example.com", "config list", "encrypt --to bob@example.com -o other", "recipient list",
        "sign -o other", "store check", "trust list", "verify signed.eml", "decrypt secret.eml -o other",
        "filter outgoing --stdout --log none --sender alice@example.com -- bob@example.com",
        "filter incoming --stdout --log none --sender bob@example.com -- alice@example.com",
    ].map { $0.split(separator: " ").map(String.init) }
    private static let mail = Array("From: alice@example.com\r\nTo: bob@example.com\r\n\r\nvery secret\r\n".utf8)

    /// Alice and Carol with their keys, Bob, the test CA, a rule to encrypt mail to Bob, and two messages. The cases copy
    /// this folder.
    private static let template = Result {
        let home = try CommandEnvironment()
        try home.fill("alice", "carol")
        for command in [
            ["import", Fixtures.certs.path + "/bob/cert.pem"],
            ["policy", "set", "--recipient", "bob@example.com", "--encrypt", "require"],
            ["sign", "-o", "signed.eml"], ["encrypt", "--to", "alice@example.com", "-o", "secret.eml"],
        ] {
            let result = try home.run(command, input: mail)
            guard result.status == 0 else {
                throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: result.errorText])
            }
        }
        return home
    }

    @Test(.enabled(if: hasSQLite, "sqlite3 is not installed"), arguments: StoreCases.all)
    func `a manipulated store is refused and reveals nothing`(_ item: StoreCases.Case) throws {
        let home = try CommandEnvironment(copying: Self.template.get())
        let work = home.folder.appending(path: "tmp")
        var shell = CommandRunner(
            "sh",
            environment: home.environment.merging(["SMIME": home.program]) { $1 },
            folder: work
        )
        shell.timeLimit = .seconds(60)
        let damaged = try shell.run(["-ec", item.damage])
        try #require(damaged.status == 0, "\(damaged.errorText)")
        let output = work.appending(path: "out").path
        let result = try home.run(item.command, input: Self.mail)
        #expect(result.status == item.status, "\(result.errorText)")
        #expect(result.signal == nil && !result.isTimeout)
        if let text = item.says { #expect(result.errorText.contains(text), "\(result.errorText)") }
        #expect(FileManager.default.fileExists(atPath: output) == (result.status == 0 && item.command.contains("out")))
        for question in Self.questions {
            let input =
                question.contains("incoming")
                ? try Array(Data(contentsOf: work.appending(path: "signed.eml"))) : Self.mail
            let result = try home.run(question, input: input)
            let said = "\(question): \(result.status) \(result.errorText)"
            #expect(result.signal == nil && !result.isTimeout && result.status != 70, "\(said)")
            #expect(result.status == 0 || !(result.text + result.errorText).isEmpty, "\(said)")
            // Mail that must be encrypted never leaves in clear.
            if question.contains("outgoing") { #expect(!result.text.contains("very secret"), "\(said)") }
            try? FileManager.default.removeItem(at: work.appending(path: "other"))
        }
    }
}
