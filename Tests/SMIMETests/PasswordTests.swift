import Foundation
import SMIME
import TestSupport
import Testing

/// Encryption with a password through the public interface.
@Suite struct PasswordTests {
    private static let time = Date(timeIntervalSince1970: 1_793_500_000)

    @Test func `a password opens what is encrypted for it, beside a certificate or alone`() async throws {
        let bob = try TestIdentity("bob").identityWithChain
        let mail = try Message("From: alice@example.com\r\nSubject: Hello\r\n\r\nGood morning\r\n".utf8)
        let password = try Recipient(password: "correct horse")
        #expect(throws: SMIMEError.self) { try Recipient(password: "") }
        #expect(password.certificate == nil)
        let both = try await mail.encrypted(to: [password, Recipient(bob.certificate, at: Self.time)])
            .bytes()
        let alone = try await mail.encrypted(to: [password]).bytes()
        let keys = Keyring([])
        for secret in [both, alone] {
            let opened = try await Message(secret).opened(with: keys, password: "correct horse", at: Self.time)
            #expect(String(decoding: try await opened.bytes(), as: UTF8.self).hasSuffix("Good morning\r\n"))
            let wrong = await #expect(throws: SMIMEError.self) {
                try await Message(secret).opened(with: keys, password: "wrong", at: Self.time)
            }
            #expect(wrong?.code == .decryptionFailed)
        }
        let missing = await #expect(throws: SMIMEError.self) {
            try await Message(alone).opened(with: keys, at: Self.time)
        }
        #expect(missing?.code == .needsSecret)
        #expect(try await !Message(both).opened(with: Keyring(bob), at: Self.time).bytes().isEmpty)
    }

    @Test func `a password opens an object that is no mail`() async throws {
        let object = try CryptographicMessage.encrypt(.init("text".utf8), to: [Recipient(password: "correct horse")])
        let opened = try await CryptographicMessage.decrypt(
            .init(object),
            with: Keyring([]),
            password: "correct horse"
        )
        #expect(try await opened.bytes() == Array("text".utf8))
    }
}
