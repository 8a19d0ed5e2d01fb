import ByteStreams
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// RSA keys are passed to libcrypto number by number; openssl must see the same keys.
@Suite struct RSAKeyTests {
    @Test(arguments: ["rsa_keygen_bits:1024", "rsa_keygen_bits:2047", "rsa_keygen_pubexp:3", "rsa_keygen_primes:3"])
    func `an RSA key is written and read as openssl does`(option: String) throws {
        let openssl = try OpenSSLCommand()
        func run(_ words: String) throws -> [UInt8] {
            let result = try CommandRunner("openssl", folder: openssl.folder)
                .run(words.split(separator: " ").map(String.init))
            try #require(result.status == 0, "\(result.errorText)")
            return result.standardOutput
        }
        _ = try run("genpkey -algorithm RSA -pkeyopt \(option) -outform DER -out key.der")
        let pkcs8 = try run("pkcs8 -topk8 -nocrypt -in key.der -outform DER")
        let key = try PrivateKey(pkcs8: pkcs8)
        #expect(try key.publicKeyInfo == run("pkey -in key.der -pubout -outform DER"))
        #expect(try key.withPKCS8 { Array($0) } == pkcs8)
        let digest = try DigestAlgorithm.sha256.digest(Array("text".utf8))
        let signature = try key.handle.sign(message: Array("text".utf8))
        try Data(signature).write(to: openssl.folder.appending(path: "signature"))
        try Data(digest).write(to: openssl.folder.appending(path: "digest"))
        let verdict = try run("pkeyutl -verify -inkey key.der -in digest -sigfile signature -pkeyopt digest:sha256")
        #expect(String(decoding: verdict, as: UTF8.self).contains("Verified Successfully"))
    }

    @Test func `a key that is no plain RSA key in DER is read by libcrypto`() throws {
        let pkcs8 = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil).withPKCS8 { Array($0) }
        // Every byte of the key's structure is changed in turn; the result does not matter as long as nothing crashes.
        for index in 0..<48 {
            for change in [1, 0x80, 0xFF] as [UInt8] {
                var changed = pkcs8
                changed[index] ^= change
                do throws(CMSError) { _ = try PrivateKey(pkcs8: changed) } catch {
                    #expect(!"\(error)".isEmpty)
                }
            }
        }
        for count in [0, 1, 30, 200, pkcs8.count - 1] {
            #expect(throws: CMSError.self) { try PrivateKey(pkcs8: Array(pkcs8.prefix(count))) }
        }
    }
}
