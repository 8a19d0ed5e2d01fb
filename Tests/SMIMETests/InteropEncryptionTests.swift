import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Complete encrypted mails, exchanged with the openssl command in both directions.
@Suite struct InteropEncryptionTests {
    @Test(arguments: ["aes-128-cbc", "aes-256-cbc", "aes-128-gcm", "aes-256-gcm"], [LineEnd.lf, .crlf])
    func `openssl decrypts encrypted mail byte for byte`(cipher: String, lineEnd: LineEnd) throws {
        let mail = SampleMail(from: "alice", lineEnd: lineEnd)
        let cipher = try #require(ContentCipher(writable: cipher))
        for name in ["alice", "bob", "carol", "p384", "p521"] {
            for (wrapping, usesKeyIdentifier) in [(Recipient.RSAWrapping.pkcs1, false), (.oaep, true)] {
                let recipients = try ["encrypt-only", name].map {
                    Recipient(
                        unchecked:
                            try TestIdentity($0).certificate,
                        rsaWrapping: wrapping,
                        usesKeyIdentifier: usesKeyIdentifier
                    )
                }
                let encrypted = try [UInt8](
                    written {
                        try MessageProtector(MemorySource(try mail.bytes))
                            .encrypt(to: recipients, cipher: cipher, at: .judged, to: $0)
                    }
                )
                #expect(try Data(decrypt(encrypted, as: name)) == mail.content("cipher"))
                // The older `openssl smime` supports only RSA PKCS #1 v1.5, issuer and serial number, and CBC.
                guard !cipher.isAuthenticated, wrapping == .pkcs1, ["alice", "bob"].contains(name) else { continue }
                #expect(try Data(decrypt(encrypted, as: name, with: "smime")) == mail.content("cipher"))
            }
        }
    }

    @Test(arguments: ["aes-128-cbc", "aes-256-cbc", "aes-128-gcm", "aes-256-gcm"])
    func `mail encrypted by openssl is decrypted unchanged`(cipher: String) async throws {
        let command = try OpenSSLCommand()
        for (name, options) in Self.recipients {
            let folder = Fixtures.certs.appending(path: name).path
            let mail = SampleMail(from: "alice")
            let encrypted = try command.run(
                "cms -encrypt -\(cipher) \(mail.fields) \(options.replacing("CERT", with: "\(folder)/cert.pem"))",
                input: mail.entity
            )
            try await expect(encrypted, toBecome: mail, for: name, options)
        }
        guard cipher.hasSuffix("cbc") else { return }
        let folder = Fixtures.certs.appending(path: "alice").path
        let mail = SampleMail(from: "alice")
        let encrypted = try command.run(
            "smime -encrypt -\(cipher) \(mail.fields) \(folder)/cert.pem",
            input: mail.entity
        )
        try await expect(encrypted, toBecome: mail, for: "alice", "smime")
    }

    @Test func `signed and encrypted mail is exchanged with openssl in both directions`() async throws {
        let mail = SampleMail(from: "carol")
        let folder = Fixtures.certs.path
        let (signer, keyring) = (try SignedDataWriter.Signer(person: "carol"), try Keyring(people: ["alice"]))
        let recipient = Recipient(unchecked: try #require(keyring.identities.first).certificate, rsaWrapping: .oaep)
        let ours = try [UInt8](
            written {
                try MessageProtector(MemorySource(try mail.bytes))
                    .encrypt(to: [recipient], cipher: .aes256GCM, signedBy: (signer, .detached), at: .judged, to: $0)
            }
        )
        let inner = try decrypt(ours, as: "alice")
        let verified = try OpenSSLCommand().run(
            "cms -verify -CAfile \(folder)/ca/root.pem -attime \(Int(Date.judged.timeIntervalSince1970))",
            input: inner
        )
        #expect(Data(verified) == mail.content("cipher"))

        let signed = try OpenSSLCommand().run(
            "cms -sign -signer \(folder)/carol/cert.pem -inkey \(folder)/carol/key.pem -certfile \(folder)/ca/intermediate.pem",
            input: mail.entity
        )
        let theirs = try OpenSSLCommand().run(
            "cms -encrypt -aes-256-gcm \(mail.fields) \(folder)/alice/cert.pem",
            input: signed
        )
        let opened = try await MessageOpener(keyring, at: .judged).decrypt(MemorySource(theirs))
        #expect(opened.report.status == .valid)
        #expect(opened.report.layers.map(\.kind) == [.authenticatedEncrypted, .signed])
        #expect(try written { try opened.write(to: $0) } == Data(mail.bytes))
    }

    private static let recipients = [
        ("alice", "-recip CERT"),
        ("alice", "-keyid -recip CERT -keyopt rsa_padding_mode:oaep"),
        ("alice", "-recip CERT -keyopt rsa_padding_mode:oaep -keyopt rsa_oaep_md:sha256"),
        ("bob", "-stream -recip CERT"),
        ("carol", "-recip CERT"),
        ("p384", "-stream -keyid -recip CERT"),
        ("p521", "-recip CERT -keyopt ecdh_kdf_md:sha512"),
    ]

    /// Decrypts with all three kinds of line ends; and the bare object, whose plaintext must be the entity.
    private func expect(
        _ encrypted: [UInt8],
        toBecome mail: SampleMail,
        for name: String,
        _ options: String
    ) async throws {
        let opener = MessageOpener(try Keyring(people: [name]), at: .judged)
        for lineEnd in [LineEnd.lf, .crlf] {
            let opened = try await opener.decrypt(MemorySource(encrypted.withLines(endingIn: lineEnd)))
            #expect(
                try written { try opened.write(to: $0) } == Data(mail.bytes.withLines(endingIn: lineEnd)),
                "\(options)"
            )
        }
        let object = try MIMEReader.message(in: MemorySource(encrypted))
        let source = MemorySource(encrypted)
        let bare = try await opener.decrypt(cms: object.decodedBody(of: source), in: source)
        #expect(try written { try bare.write(to: $0) } == mail.content, "\(options)")
    }

    private func decrypt(_ encrypted: [UInt8], as name: String, with command: String = "cms") throws -> [UInt8] {
        let folder = Fixtures.certs.appending(path: name).path
        return try OpenSSLCommand().run(
            "\(command) -decrypt -recip \(folder)/cert.pem -inkey \(folder)/key.pem",
            input: encrypted
        )
    }
}
