import ByteStreams
import Foundation
import TestSupport
import Testing

/// Outgoing mail: it is encrypted to the right recipients or not at all, and contains nothing that its author did not write.
@Suite struct SendingVerdictTests {
    private static func mail(_ fields: String..., body: String = "very secret\r\n") -> [UInt8] {
        Array((fields.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private func pem(_ certificates: [[UInt8]]) -> [UInt8] {
        Array(
            certificates.map {
                let base64 = Data($0).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
                return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
            }.joined().utf8
        )
    }

    /// A store with Alice, Carol's certificate, and `certificates` imported by the user.
    private func home(_ certificates: [[UInt8]]) throws -> CommandEnvironment {
        let home = try CommandEnvironment()
        try home.fill("alice")
        #expect(
            try home.run(["import", Fixtures.certs.path + "/carol/cert.pem", Fixtures.certs.path + "/revoked/crl.der"])
                .status == 0
        )
        _ = try home.run(["import", "-"], input: pem(certificates))
        return home
    }

    @Test func `a sound recipient certificate is encrypted to`() throws {
        let home = try home(SendingCases.sound())
        let result = try home.run(["encrypt"], input: Self.mail("From: alice@example.com", "To: bob@example.com"))
        #expect(result.status == 0, "\(result.errorText)")
        #expect(!result.text.contains("very secret"))
    }

    @Test(arguments: SendingCases.lies)
    func `a recipient certificate with false claims is not encrypted to`(_ lie: SendingCases.Lie) throws {
        let home = try home(lie.make())
        let output = home.folder.appending(path: "out").path
        // With and without a second recipient, whose certificate is good: all or none.
        for others in ["", ", carol@example.com"] {
            let mail = Self.mail("From: alice@example.com", "To: \(lie.address)\(others)")
            let result = try home.run(["encrypt", "-o", output], input: mail)
            #expect(result.status == 67, "\(result.errorText)")
            #expect(result.errorText.contains(lie.why), "\(result.errorText)")
            #expect(!FileManager.default.fileExists(atPath: output))
        }
        let filter = [
            "filter", "outgoing", "--stdout", "--log", "none", "--encrypt", "require", "--sender", "alice@example.com",
            "--",
        ]
        let mail = Self.mail("From: alice@example.com", "To: \(lie.address), carol@example.com")
        let result = try home.run(filter + [lie.address, "carol@example.com"], input: mail)
        #expect(result.status == 67 && result.standardOutput.isEmpty, "\(result.errorText)")
    }

    @Test(arguments: ["rc2-40", "rc2-cbc", "des-ede3-cbc", "des-cbc", "rc4", "aes-128-ecb", "none", ""])
    func `a weak cipher is refused`(cipher: String) throws {
        let home = try home(SendingCases.sound())
        let mail = Self.mail("From: alice@example.com", "To: bob@example.com")
        let result = try home.run(["encrypt", "--cipher", cipher], input: mail)
        #expect(result.status == 64 && result.standardOutput.isEmpty, "\(result.errorText)")
        #expect(try home.run(["config", "set", "encryption.unknown", cipher]).status == 64)
    }

    /// Addresses that other programs, or a second line, would interpret differently.
    @Test(arguments: [
        "bob@example.com\r\nBcc: mallory@example.com", "bob@example.com\nX: y", "bob@example.com\0", "-oX@example.com",
        "-bob@example.com",
        "bob@example.com, mallory@example.com", "bob@example.com mallory@example.com", "<bob@example.com",
        "bob@[example",
    ])
    func `an address with line breaks, options or several mailboxes is refused`(address: String) throws {
        let home = try home(SendingCases.sound())
        let mail = Self.mail("From: alice@example.com", "To: bob@example.com")
        let filter = ["filter", "outgoing", "--stdout", "--log", "none"]
        // Arguments end at a NUL, so the address with a NUL arrives as another one.
        for command in [
            ["encrypt", "--to=\(address)"], ["sign", "--from=\(address)"], ["encrypt", "--from=\(address)"],
            ["recipient", "add", "--", address, Fixtures.certs.path + "/bob/cert.pem"],
            filter + ["--sender", "alice@example.com", "--", address],
        ] where !address.contains("\0") {
            let result = try home.run(command, input: mail)
            #expect(result.status != 0 && result.status != 70 && result.signal == nil, "\(command) \(result.errorText)")
            #expect(result.standardOutput.isEmpty)
        }
        // The same in the header: it yields no address and no additional line.
        if !address.contains("\n"), address != "bob@example.com, mallory@example.com" {
            let result = try home.run(["encrypt"], input: Self.mail("From: alice@example.com", "To: \(address)"))
            #expect(result.status != 0 && result.standardOutput.isEmpty, "\(result.errorText)")
        }
    }

    @Test(arguments: [
        ["From: bob@example.com"], ["From: mallory@example.com"],
        ["From: alice@example.com", "From: mallory@example.com"],
        ["From: \"alice@example.com\" <mallory@example.com>"], ["From: alice@example.com.evil.test"],
        ["From: alice+x@example.com"],
        ["From:"], ["To: bob@example.com"], ["From: \u{430}lice@example.com"],
    ])
    func `an account signs only for its own addresses`(fields: [String]) throws {
        let home = try home([])
        let mail = Array((fields.joined(separator: "\r\n") + "\r\n\r\nhello\r\n").utf8)
        let result = try home.run(["sign"], input: mail)
        #expect(
            [65, 67].contains(result.status) && result.standardOutput.isEmpty,
            "\(result.status) \(result.errorText)"
        )
        // The sending account does not sign for arbitrary addresses in From.
        let filter = [
            "filter", "outgoing", "--stdout", "--log", "none", "--sign", "require", "--sender", "alice@example.com",
            "--", "bob@example.com",
        ]
        let filtered = try home.run(filter, input: mail)
        #expect(filtered.status != 0 && filtered.standardOutput.isEmpty, "\(filtered.errorText)")
    }

    /// Content that transports would change is encoded before it is signed, so that they change nothing.
    @Test(arguments: [
        "Gr\u{FC}\u{DF}e", String(repeating: "long ", count: 400), "trailing blanks   ", "From here on", ".", ">From",
        "tab\t",
        "nul \0 inside",
    ])
    func `signed content survives every kind of transport`(line: String) throws {
        let home = try home([])
        let mail = Self.mail(
            "From: alice@example.com",
            "To: bob@example.com",
            "Content-Type: text/plain; charset=utf-8",
            body: "begin\r\n\(line)\r\nend\r\n"
        )
        let signed = try home.run(["sign"], input: mail)
        #expect(signed.status == 0, "\(signed.errorText)")
        let lines = signed.standardOutput.split(separator: 10, omittingEmptySubsequences: false)
        for line in lines {
            let text = line.last == 13 ? line.dropLast() : line
            #expect(text.count <= 998 && text.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 9 })
            #expect(
                text.last != 0x20 && text.last != 9 && !text.starts(with: Array("From ".utf8))
                    && !text.elementsEqual([0x2E])
            )
        }
        #expect(try home.run(["verify", "--no-harvest"], input: signed.standardOutput).status == 0)
    }

    @Test func `no copy for other recipients reveals a Bcc recipient`() throws {
        let home = try home(SendingCases.sound())
        let mail = Self.mail("From: alice@example.com", "To: bob@example.com", "Bcc: Secret Name <carol@example.com>")
        let folder = home.folder.appending(path: "out").path
        let file = home.folder.appending(path: "mail.eml")
        try Data(mail).write(to: file)
        let result = try home.run(["encrypt", "--sign", "-O", folder, file.path])
        #expect(result.status == 0, "\(result.errorText)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names.count == 2, "\(names)")
        let carol = CertificateFields(try Person.carol.get().certificate).serial.dropFirst(2).hexadecimal
        let all = try names.map { name in
            let text = try home.run(["inspect", "--json", "\(folder)/\(name)"]).text
            let bytes = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            #expect(!bytes.lowercased().contains("bcc:") && !bytes.contains("Secret Name") && !bytes.contains("carol@"))
            return text.lowercased().contains(carol.lowercased())
        }
        // Her own copy is the one that only she can read.
        #expect(all.count { $0 } == 1, "\(all)")
    }
}
