import ByteStreams
import Foundation
import TestSupport
import Testing

/// What the registry learns from mail that tries to plant certificates, tested through the command.
@Suite struct LearningVerdictTests {
    @Test(arguments: LearningCases.all)
    func `hostile mail teaches the registry only the expected certificates`(_ item: LearningCases.Case) throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        var said = ""
        for mail in try item.mails() {
            let result = try home.run(["verify"] + item.options, input: mail)
            #expect(result.signal == nil && !result.isTimeout && result.status < 64, "\(result.errorText)")
            said = result.errorText
        }
        #expect(try known(in: home) == item.known.sorted())
        if let text = item.says { #expect(said.contains(text), "\(said)") }
    }

    /// The other ways in (harvest, import, the mail server's filter) have the same results.
    @Test(arguments: [
        ["harvest"], ["import", "-"],
        ["filter", "incoming", "--stdout", "--log", "none", "--sender", "x@y.test", "--", "z@y.test"],
    ])
    func `harvest, import and filter learn the same as verify`(command: [String]) throws {
        for name in ["own certificate", "signer of another address", "a preferred certificate of another person"] {
            let item = try #require(LearningCases.all.first { $0.name == name })
            let home = try CommandEnvironment()
            try home.fill("alice")
            for mail in try item.mails() {
                let result = try home.run(command, input: mail)
                #expect(result.signal == nil && result.status != 70, "\(result.errorText)")
            }
            #expect(try known(in: home) == item.known.sorted(), "\(name)")
        }
    }

    /// A sender who announces only weak capabilities still gets mail encrypted with acceptable ciphers.
    @Test func `weak capabilities never lower the cipher floor`() throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let weak = Attributes.make(
            OID.smimeCapabilities,
            TLV.sequence(
                TLV.sequence(TLV.oid("1.2.840.113549.3.7")),
                TLV.sequence(TLV.oid("1.2.840.113549.3.2"), TLV.integer(40))
            )
        )
        var forge = SignedForge(MailForge.text, by: try Person.bob.get())
        forge.signers[0].signedAttributes = {
            [Attributes.contentType(), Attributes.digest($0), Attributes.time(), weak]
        }
        let mail = MailForge(from: "bob@example.com").signed(MailForge.text, signature: try forge.encoded())
        #expect(try home.run(["verify"], input: mail).status == 0)
        #expect(try known(in: home) == ["bob*"])
        let output = home.folder.appending(path: "secret.eml").path
        let plain = Array("From: alice@example.com\r\nTo: bob@example.com\r\n\r\nhello\r\n".utf8)
        let result = try home.run(["encrypt", "--json", "-o", output], input: plain)
        #expect(result.status == 0, "\(result.errorText)")
        let cipher = try #require(result.text.firstMatch(of: /"cipher":"([^"]*)"/)).output.1
        #expect(cipher.hasPrefix("aes-"), "\(cipher)")
    }

    @Test func `a distrusted certificate stays distrusted when its owner writes again`() throws {
        let home = try CommandEnvironment()
        try home.fill("alice")
        let mail = try #require(LearningCases.all.first).mails()[0]
        #expect(try home.run(["verify"], input: mail).status == 0)
        #expect(try home.run(["recipient", "distrust", "bob@example.com"]).status == 0)
        #expect(try home.run(["verify"], input: mail).status == 1)
        #expect(try known(in: home) == ["bob"])
    }

    /// The known certificates of people other than Alice, by the names of the cases; those in use are followed by a star.
    private func known(in home: CommandEnvironment) throws -> [String] {
        let names = try LearningCases.people.mapValues { try Attacker.digest($0.get().certificate, "SHA256") }
        let result = try home.run(["recipient", "list", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(result.standardOutput)) as? [String: Any]
        let recipients = try #require(object?["recipients"] as? [[String: Any]])
        return try recipients.filter { $0["address"] as? String != "alice@example.com" }.flatMap { recipient in
            try #require(recipient["certificates"] as? [[String: Any]]).map { certificate in
                let fingerprint = certificate["fingerprint"] as? String ?? ""
                let name = names.first { name in
                    fingerprint.hasSuffix(name.value.hexadecimal)
                }
                return (name?.key ?? fingerprint) + (certificate["selected"] as? Bool == true ? "*" : "")
            }
        }.sorted()
    }
}
