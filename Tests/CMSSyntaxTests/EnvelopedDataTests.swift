import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import TestSupport
import Testing

@Suite struct EnvelopedDataTests {
    static let ciphers = ["aes-256-gcm", "aes-192-gcm", "aes-128-gcm", "aes-256-cbc", "aes-192-cbc", "aes-128-cbc"]
    static let recipients = ["alice", "bob", "carol", "p384", "p521"]

    private func encrypt(
        _ content: [UInt8],
        to names: [String],
        _ cipher: String,
        wrapping: Recipient.RSAWrapping = .oaep,
        usesKeyIdentifier: Bool = false
    ) throws -> [UInt8] {
        let recipients = try names.map {
            Recipient(
                unchecked: try TestIdentity($0).certificate,
                rsaWrapping: wrapping,
                usesKeyIdentifier: usesKeyIdentifier
            )
        }
        let writer = try EnvelopedDataWriter(
            to: recipients,
            cipher: #require(ContentCipher(writable: cipher)),
            contentCount: content.count
        )
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(content) }
        #expect(sink.bytes.count == writer.count)
        return sink.bytes
    }

    private func decrypt(_ message: ByteStream, as name: String) throws -> [UInt8] {
        let identity = try TestIdentity(name)
        let data = try EnvelopedData(reading: message)
        guard let recipient = data.recipients.first(where: { $0.identifier?.matches(identity.certificate) == true })
        else {
            throw CMSError.noKeyPair
        }
        let key = try data.key(for: recipient, with: identity.key)
        let (content, observer) = try data.check(with: key) { MemorySink() }
        let bytes = try content.stream.bytes()
        #expect(observer.bytes == bytes)
        return bytes
    }

    @Test(arguments: ciphers, recipients)
    func `encrypted content decrypts here and with openssl`(cipher: String, name: String) throws {
        for (count, keyIdentifier) in [(0, false), (15, true), (16, false), (300_000, true)] {
            let content = sample(count)
            let message = try encrypt(content, to: ["dn-only", name], cipher, usesKeyIdentifier: keyIdentifier)
            #expect(try decrypt(ByteStream(message), as: name) == content)
            let folder = try TestIdentity(name).folder.path
            let opened = try OpenSSLCommand().cms(
                "-decrypt -inform DER -recip \(folder)/cert.pem -inkey \(folder)/key.pem",
                input: message
            )
            #expect(opened == content)
        }
    }

    @Test(arguments: [
        "-aes-128-cbc", "-aes-256-cbc", "-aes-128-gcm", "-aes-256-gcm", "-des3", "-aes-256-cbc -stream",
        "-aes-256-gcm -stream", "-aes-256-cbc -keyid", "-aes-192-cbc",
    ])
    func `content encrypted by openssl decrypts in every encoding`(options: String) throws {
        for name in ["alice", "carol", "p521"] {
            let folder = try TestIdentity(name).folder.path
            let content = sample(300_000)
            let message = try OpenSSLCommand().cms(
                "-encrypt -outform DER \(options) -recip \(folder)/cert.pem",
                input: content
            )
            #expect(try decrypt(ByteStream(message), as: name) == content)
            #expect(try decrypt(ByteStream(message).inPieces(of: 777), as: name) == content)
        }
    }

    @Test(arguments: [
        "rsa_padding_mode:oaep",
        "rsa_padding_mode:oaep -keyopt rsa_oaep_md:sha256 -keyopt rsa_mgf1_md:sha512 -keyopt rsa_oaep_label:0102",
        "rsa_padding_mode:pkcs1",
    ])
    func `every RSA padding of openssl decrypts`(options: String) throws {
        let folder = try TestIdentity("alice").folder.path
        let message = try OpenSSLCommand().cms(
            "-encrypt -outform DER -aes-256-gcm -recip \(folder)/cert.pem -keyopt \(options)",
            input: sample(100)
        )
        #expect(try decrypt(ByteStream(message), as: "alice") == sample(100))
    }

    @Test(arguments: ["sha1", "sha224", "sha256", "sha384", "sha512"])
    func `every ECDH key derivation of openssl decrypts`(digest: String) throws {
        let folder = try TestIdentity("carol").folder.path
        let message = try OpenSSLCommand().cms(
            "-encrypt -outform DER -aes-256-gcm -recip \(folder)/cert.pem -keyopt ecdh_kdf_md:\(digest)",
            input: sample(100)
        )
        #expect(try decrypt(ByteStream(message), as: "carol") == sample(100))
    }

    @Test(arguments: ciphers + ["chacha20-poly1305"])
    func `every changed byte gives the same error or no effect, and never a crash`(cipher: String) throws {
        let content = sample(50)
        let message = try encrypt(content, to: ["carol"], cipher)
        for index in message.indices {
            var changed = message
            changed[index] ^= 0x55
            do {
                let opened = try decrypt(ByteStream(changed), as: "carol")
                // CBC is malleable: only GCM must notice every change of the content.
                if !cipher.hasSuffix("cbc") { #expect(opened == content) }
            } catch {
                #expect(error is CMSError)
            }
        }
    }

    @Test func `decryption with a wrong key fails like one with a changed tag`() throws {
        let message = try encrypt(sample(50), to: ["alice"], "aes-256-gcm", wrapping: .pkcs1)
        let data = try EnvelopedData(reading: ByteStream(message))
        let recipient = try #require(data.recipients.first)
        for name in ["bob", "carol"] {
            let key = try data.key(for: recipient, with: TestIdentity(name).key)
            #expect(throws: CMSError.decryptionFailed) { try data.check(with: key) { CountingSink() } }
        }
    }

    @Test func `a key that cannot be unwrapped is replaced by the same substitute at each attempt`() throws {
        let message = try encrypt(sample(50), to: ["alice"], "aes-256-cbc", wrapping: .pkcs1)
        let data = try EnvelopedData(reading: ByteStream(message))
        let recipient = try #require(data.recipients.first)
        func content(as name: String) throws -> [UInt8] {
            let key = try data.key(for: recipient, with: TestIdentity(name).key)
            return try data.substitute(with: key).stream.bytes()
        }
        let first = try content(as: "bob")
        #expect(try content(as: "bob") == first)
        #expect(try content(as: "carol") != first)
        #expect(try content(as: "alice").starts(with: sample(50)))
    }

    @Test func `a truncated message never decrypts`() throws {
        let message = try encrypt(sample(500), to: ["carol"], "aes-256-cbc")
        for count in 0..<message.count {
            #expect(throws: (any Error).self) { try decrypt(ByteStream(Array(message.prefix(count))), as: "carol") }
        }
    }
}
