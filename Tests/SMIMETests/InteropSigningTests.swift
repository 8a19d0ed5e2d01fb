import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import SMIME
import TestSupport
import Testing

/// Complete signed mails, exchanged with the openssl command in both directions.
@Suite struct InteropSigningTests {
    private static let anchor = Fixtures.certs.appending(path: "ca/root.pem").path

    @Test(arguments: ["alice", "bob", "carol", "p384", "p521", "pss"], [LineEnd.lf, .crlf])
    func `openssl verifies signed mail and gets the entity byte for byte`(name: String, lineEnd: LineEnd) throws {
        let mail = SampleMail(from: name, lineEnd: lineEnd)
        for form in [SignatureForm.detached, .opaque] {
            for (digest, usesKeyIdentifier) in [(DigestAlgorithm.sha256, false), (.sha384, true), (.sha512, true)] {
                var signer = try SignedDataWriter.Signer(person: name)
                signer.digest = digest
                signer.usesKeyIdentifier = usesKeyIdentifier
                let signed = try [UInt8](
                    written {
                        try MessageProtector(MemorySource(try mail.bytes)).sign(
                            by: signer,
                            as: form,
                            at: .judged,
                            to: $0
                        )
                    }
                )
                try expectVerified(signed, mail, by: "cms")
                // The older `openssl smime` supports neither key identifiers nor PSS.
                if !usesKeyIdentifier, name != "pss" { try expectVerified(signed, mail, by: "smime") }
            }
        }
    }

    private func expectVerified(_ signed: [UInt8], _ mail: SampleMail, by command: String) throws {
        let options = "-CAfile \(Self.anchor) -attime \(Int(Date.judged.timeIntervalSince1970))"
        let content = try OpenSSLCommand().run("\(command) -verify \(options)", input: signed)
        #expect(Data(content) == mail.content("clear"))
    }

    @Test(arguments: ["alice", "carol"], ["", "-nodetach", "-nodetach -stream -indef", "-stream"])
    func `mail signed by openssl is valid`(name: String, form: String) async throws {
        let mail = SampleMail(from: name)
        for options in ["-md sha256", "-md sha384 -keyid", "-md sha512"] {
            let signed = try OpenSSLCommand().run(
                "cms -sign \(form) \(mail.fields) \(signerOptions(name)) \(options)",
                input: mail.entity
            )
            try await expectValid(signed, mail, options: options)
        }
        guard name == "alice" else { return }
        let signed = try OpenSSLCommand().run(
            "smime -sign \(form) \(mail.fields) \(signerOptions(name))",
            input: mail.entity
        )
        try await expectValid(signed, mail, options: "smime")
    }

    /// openssl needs `-keyopt rsa_padding_mode:pss` also with an RSASSA-PSS key: without it, openssl writes signatures that it
    /// cannot read. openssl cannot write PSS in a stream.
    @Test(arguments: ["alice", "pss"], ["", "-nodetach"])
    func `mail signed by openssl with PSS is valid`(name: String, form: String) async throws {
        let mail = SampleMail(from: name)
        for options in ["-md sha256", "-md sha384 -keyid", "-md sha512"] {
            let signed = try OpenSSLCommand().run(
                "cms -sign \(form) \(mail.fields) \(signerOptions(name)) \(options) -keyopt rsa_padding_mode:pss",
                input: mail.entity
            )
            try await expectValid(signed, mail, options: options)
        }
    }

    @Test func `a detached signature by openssl is valid over its content, in DER and BER`() async throws {
        let opener = MessageOpener(try Keyring(people: []), at: .judged)
        let mail = SampleMail(from: "carol")
        for options in ["", "-stream", "-nodetach", "-nodetach -stream"] {
            let signed = try OpenSSLCommand().cms(
                "-sign -outform DER \(options) \(signerOptions("carol"))",
                input: mail.entity
            )
            let content = options.contains("nodetach") ? nil : MemorySource(mail.entity)
            let report = try await opener.verify(cms: MemorySource(signed).stream(), detached: content).report
            #expect(report.status == .valid, "\(options)")
        }
    }

    /// Verifies the mail as written by openssl, and with all line ends changed as by some transports.
    private func expectValid(_ signed: [UInt8], _ mail: SampleMail, options: String) async throws {
        let opener = MessageOpener(try Keyring(people: []), at: .judged)
        for bytes in [signed, signed.withLines(endingIn: .lf), signed.withLines(endingIn: .crlf)] {
            let result = try await opener.verify(MemorySource(bytes))
            #expect(result.report.status == .valid, "\(options): \(result.report.status)")
            let content = MemorySink()
            #expect(try result.writeContent(to: content))
            #expect(Data(content.bytes) == mail.content, "\(options)")
        }
    }

    private func signerOptions(_ name: String) -> String {
        let folder = Fixtures.certs.appending(path: name).path
        let chain = Fixtures.certs.appending(path: "ca/intermediate.pem").path
        return "-signer \(folder)/cert.pem -inkey \(folder)/key.pem -certfile \(chain)"
    }
}
