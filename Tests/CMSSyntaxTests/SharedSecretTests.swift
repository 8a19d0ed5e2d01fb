import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// KEKRecipientInfo and PasswordRecipientInfo, exchanged with the openssl command in both directions.
@Suite struct SharedSecretTests {
    private static let key = Array(UInt8(1)...32)

    private func encrypt(
        _ secrets: [SharedSecret],
        to recipients: [Recipient] = [],
        _ cipher: ContentCipher = .aes256CBC
    ) throws -> [UInt8] {
        let writer = try EnvelopedDataWriter(to: recipients, secrets: secrets, cipher: cipher, contentCount: 100)
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(sample(100)) }
        #expect(sink.bytes.count == writer.count)
        return sink.bytes
    }

    private func sharedSecret(_ key: [UInt8], identifier: [UInt8]?) throws -> SharedSecret {
        try SharedSecret(key: key.octets, identifier: identifier)
    }

    private func decrypt(_ message: [UInt8], with secret: SharedSecret) throws -> [UInt8] {
        let data = try EnvelopedData(reading: ByteStream(message))
        guard let recipient = data.recipients.first(where: { secret.matches($0) }) else { throw CMSError.noKeyPair }
        let (content, _) = try data.check(with: data.key(for: recipient, with: secret)) { CountingSink() }
        return try content.stream.bytes()
    }

    @Test(arguments: [16, 24, 32], ContentCipher.writable.map(\.name))
    func `content under a secret key decrypts here and with openssl`(count: Int, cipher: String) throws {
        let key = Array(Self.key.prefix(count))
        let secret = try sharedSecret(key, identifier: [0xAB, 0xCD])
        let message = try encrypt([secret], #require(ContentCipher(writable: cipher)))
        #expect(try decrypt(message, with: secret) == sample(100))
        #expect(try decrypt(message, with: sharedSecret(key, identifier: nil)) == sample(100))
        #expect(throws: CMSError.noKeyPair) { try decrypt(message, with: sharedSecret(key, identifier: [1])) }
        let wrong = try sharedSecret(Array(key.reversed()), identifier: nil)
        // With CBC, one wrong key in 256 is not noticed; the result is noise then.
        let opened = Result { try decrypt(message, with: wrong) }
        if cipher.hasSuffix("-cbc"), case .success(let noise) = opened {
            #expect(noise != sample(100))
        } else {
            #expect(throws: CMSError.decryptionFailed) { try opened.get() }
        }
        guard cipher.hasSuffix("-cbc") || cipher.hasSuffix("-gcm") else { return }
        let read = try OpenSSLCommand().cms(
            "-decrypt -inform DER -secretkey \(key.hexadecimal) -secretkeyid abcd",
            input: message
        )
        #expect(read == sample(100))
        let theirs = try OpenSSLCommand().cms(
            "-encrypt -outform DER -\(cipher) -secretkey \(key.hexadecimal) -secretkeyid abcd",
            input: sample(100)
        )
        #expect(try decrypt(theirs, with: secret) == sample(100))
    }

    @Test(arguments: ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des3"])
    func `content that openssl encrypts under a password decrypts`(cipher: String) throws {
        let theirs = try OpenSSLCommand().cms(
            "-encrypt -outform DER -\(cipher) -pwri_password correct-horse",
            input: sample(100)
        )
        let secret = SharedSecret(password: Passphrase("correct-horse".utf8))
        #expect(try decrypt(theirs, with: secret) == sample(100))
        // One wrong key in 256 passes the padding check and yields noise.
        let noise = try? decrypt(theirs, with: SharedSecret(password: Passphrase("wrong".utf8)))
        #expect(noise != sample(100))
    }

    @Test(arguments: ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc"])
    func `openssl decrypts content that is encrypted under a password`(cipher: String) throws {
        let secret = SharedSecret(password: Passphrase("correct-horse".utf8))
        let message = try encrypt([secret], #require(ContentCipher(writable: cipher)))
        #expect(try decrypt(message, with: secret) == sample(100))
        let opened = try OpenSSLCommand().cms("-decrypt -inform DER -pwri_password correct-horse", input: message)
        #expect(opened == sample(100))
    }

    @Test func `a message with certificate, key and password recipients opens for each`() throws {
        let alice = try TestIdentity("alice")
        let password = SharedSecret(password: Passphrase("pässwörd".utf8))
        let key = try sharedSecret(Self.key, identifier: nil)
        let message = try encrypt([password, key], to: [Recipient(unchecked: alice.certificate)], .chaCha20Poly1305)
        #expect(try decrypt(message, with: password) == sample(100))
        #expect(try decrypt(message, with: key) == sample(100))
        let data = try EnvelopedData(reading: ByteStream(message))
        #expect(Set(data.recipients.map(\.kind)) == [.keyTransport, .keyEncryptionKey, .password])
        let detail = try #require(data.recipients.first { $0.kind == .password }?.algorithmDetail)
        #expect(detail == "pbkdf2 with 600000 iterations of sha256, aes-256-cbc")
    }

    @Test func `a password with too many iterations is refused at once`() throws {
        var message = try encrypt([SharedSecret(password: Passphrase("x".utf8))])
        // Change 600,000 iterations to 9 million.
        let iterations = try #require(message.firstRange(of: [0x02, 0x03, 0x09, 0x27, 0xC0]))
        message.replaceSubrange(iterations, with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
        #expect(throws: CMSError.limitExceeded("key derivation iterations")) {
            try decrypt(message, with: SharedSecret(password: Passphrase("x".utf8)))
        }
    }

    @Test func `every changed byte of a secret key message gives an error or no effect, and never a crash`() throws {
        let secret = try sharedSecret(Self.key, identifier: [1])
        let message = try encrypt([secret], .aes128GCM)
        for index in message.indices {
            var changed = message
            changed[index] ^= 0x11
            do {
                #expect(try decrypt(changed, with: secret) == sample(100))
            } catch { #expect(error is CMSError) }
        }
    }

    @Test(arguments: [0, 8, 15, 17, 64])
    func `a secret key of the wrong length is refused`(count: Int) {
        #expect(throws: CMSError.self) { try sharedSecret([UInt8](repeating: 1, count: count), identifier: nil) }
    }
}
