import ByteStreams
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

@Suite struct PrivateKeyTests {
    @Test(arguments: ["alice", "carol", "p384", "p521", "dana", "pss"])
    func `a key belongs to its certificate and to no other`(name: String) throws {
        let key = try PrivateKey(pem: Fixtures.cert("\(name)/key.pem"), passphrase: nil)
        #expect(try key.belongs(to: Certificate(fixture: "\(name)/cert.pem")))
        #expect(try !key.belongs(to: Certificate(fixture: "bob/cert.pem")))
    }

    @Test func `one key serves two certificates`() throws {
        let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        #expect(try key.belongs(to: Certificate(fixture: "alice-reissued/cert.pem")))
        #expect(try !key.belongs(to: Certificate(fixture: "alice-renewed/cert.pem")))
    }

    @Test func `a key labelled RSA belongs to a certificate for RSA-PSS with the same modulus`() throws {
        let pss = try PrivateKey(pem: Fixtures.cert("pss/key.pem"), passphrase: nil)
        let relabelled = try pss.withPKCS8 { pkcs8 in
            // AlgorithmIdentifier of id-RSASSA-PSS becomes that of rsaEncryption with NULL.
            let info = try #require(Array(pkcs8).relabelledAsRSA)
            return try PrivateKey(pkcs8: info)
        }
        #expect(relabelled.algorithm == .rsa(2048))
        #expect(try relabelled.belongs(to: Certificate(fixture: "pss/cert.pem")))
    }

    @Test(arguments: [
        "pkcs8 -topk8 -v2 aes256", "pkcs8 -topk8 -v2 aes128 -v2prf hmacWithSHA512", "pkcs8 -topk8 -v2 des3",
        "pkcs8 -topk8 -scrypt", "pkcs8 -topk8 -v1 PBE-SHA1-3DES",
        "pkcs8 -topk8 -v1 PBE-MD5-DES -provider legacy -provider default",
        "pkcs8 -topk8 -v1 PBE-SHA1-RC2-40 -provider legacy -provider default", "rsa -aes256 -traditional",
    ])
    func `keys encrypted by openssl open only with their passphrase`(command: String) throws {
        let openssl = try OpenSSLCommand()
        let source = Fixtures.certs.appending(path: "alice/key.pem").path
        let words = command.split(separator: " ").map(String.init)
        let result = try CommandRunner("openssl", folder: openssl.folder)
            .run(words + ["-in", source, "-passout", "pass:s3cret", "-out", "key.pem"])
        try #require(result.status == 0, "\(result.errorText)")
        let pem = try Array(Data(contentsOf: openssl.folder.appending(path: "key.pem")))
        let plain = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        #expect(try PrivateKey(pem: pem, passphrase: Passphrase("s3cret".utf8)).publicKeyInfo == plain.publicKeyInfo)
        #expect(throws: CMSError.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: Passphrase("other".utf8)) }
        #expect(throws: CMSError.wrongPassphrase) { try PrivateKey(pem: pem, passphrase: nil) }
    }

    @Test(arguments: [("alice", "rsa"), ("carol", "ec")])
    func `the traditional forms are read, in PEM and DER`(name: String, tool: String) throws {
        let openssl = try OpenSSLCommand()
        let source = Fixtures.certs.appending(path: "\(name)/key.pem").path
        for (form, file) in [("PEM", "key.pem"), ("DER", "key.der")] {
            var words = [tool, "-in", source, "-outform", form, "-out", file]
            if tool == "rsa" { words.append("-traditional") }
            let result = try CommandRunner("openssl", folder: openssl.folder).run(words)
            try #require(result.status == 0, "\(result.errorText)")
            let bytes = try Array(Data(contentsOf: openssl.folder.appending(path: file)))
            #expect(try PrivateKey(pem: bytes, passphrase: nil).belongs(to: Certificate(fixture: "\(name)/cert.pem")))
        }
    }

    @Test func `a sealed key opens with the same key and context only`() throws {
        let key = try PrivateKey(pem: Fixtures.cert("carol/key.pem"), passphrase: nil)
        let store = try SealingKey.generate()
        let sealed = try key.sealed(under: store, authenticating: [1, 2, 3])
        let opened = try PrivateKey(sealed: sealed, under: store, authenticating: [1, 2, 3])
        #expect(opened.publicKeyInfo == key.publicKeyInfo)
        #expect(throws: CMSError.decryptionFailed) {
            try PrivateKey(sealed: sealed, under: store, authenticating: [1, 2])
        }
        #expect(throws: CMSError.decryptionFailed) {
            try PrivateKey(sealed: sealed, under: .generate(), authenticating: [1, 2, 3])
        }
    }
}

extension Array<UInt8> {
    /// A PrivateKeyInfo with the algorithm of RSA in place of any other.
    fileprivate var relabelledAsRSA: [UInt8]? {
        // SEQUENCE (4 bytes), version (3), AlgorithmIdentifier, OCTET STRING.
        guard count > 9, self[7] == 0x30, self[8] < 0x80 else { return nil }
        let rest = dropFirst(9 + Int(self[8]))
        let algorithm: [UInt8] = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0]
        let body = [2, 1, 0] + algorithm + rest
        return [0x30, 0x82, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }
}

@Suite struct SealingKeyTests {
    private func sample(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) } }

    @Test(arguments: [0, 1, 16, 1000])
    func `sealed bytes open to the same bytes`(count: Int) throws {
        let (key, bytes) = (try SealingKey.generate(), sample(count))
        let sealed = try key.seal(bytes, authenticating: [7])
        #expect(sealed.count == count + SealingKey.overhead)
        #expect(try key.open(sealed, authenticating: [7]).copied() == bytes)
    }

    @Test func `every changed byte of a sealed text is detected`() throws {
        let key = try SealingKey.generate()
        let sealed = try key.seal(sample(20), authenticating: [])
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: CMSError.decryptionFailed) { try key.withOpened(changed, authenticating: []) { $0.count } }
        }
        #expect(throws: CMSError.decryptionFailed) { try key.withOpened([1, 2], authenticating: []) { $0.count } }
    }

    @Test func `a sealing key wrapped by a passphrase is not unwrapped by another one`() throws {
        let key = try SealingKey.generate()
        let wrapped = try key.wrapped(by: Passphrase("häuslich".utf8))
        let opened = try SealingKey(wrapped: wrapped, passphrase: Passphrase("häuslich".utf8))
        #expect(key.copied() == opened.copied())
        #expect(throws: CMSError.wrongPassphrase) {
            try SealingKey(wrapped: wrapped, passphrase: Passphrase("anders".utf8))
        }
        var bomb = wrapped
        bomb[1] = 31
        #expect(throws: CMSError.limitExceeded("scrypt parameters")) {
            try SealingKey(wrapped: bomb, passphrase: Passphrase("häuslich".utf8))
        }
    }

    @Test func `a sealing key has 32 bytes`() {
        #expect(SealingKey([UInt8](repeating: 1, count: 31).octets) == nil)
        let bytes = [UInt8](repeating: 1, count: 32)
        #expect(SealingKey(bytes.octets)?.copied() == bytes)
    }
}
