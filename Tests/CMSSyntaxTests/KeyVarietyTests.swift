import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// Kinds of keys that `certs/` does not contain, made by openssl and tested against it in both directions.
@Suite struct KeyVarietyTests {
    /// A digest and the last number of an identifier.
    private typealias Numbered = (DigestAlgorithm, UInt8)

    private let time = Date.judged

    private func issue(_ key: String) throws -> CertificateFactory {
        var factory = try CertificateFactory()
        try factory.issue("one", subject: "/CN=One", key: key, extensions: CertificateFactory.person("one@example.com"))
        return factory
    }

    private func pair(_ factory: borrowing CertificateFactory) throws -> (certificate: Certificate, key: PrivateKey) {
        try (
            factory.certificate("one"),
            factory.key("one")
        )
    }

    @Test(arguments: [
        "P-224", "secp256k1", "brainpoolP256r1", "brainpoolP320r1", "brainpoolP384r1", "brainpoolP512r1",
        "brainpoolP384t1",
    ])
    func `signatures and key agreement on other curves interoperate with openssl`(curve: String) throws {
        let factory = try issue("EC -pkeyopt ec_paramgen_curve:\(curve)")
        let (certificate, key) = try pair(factory)
        #expect(certificate.publicKeyAlgorithm == .ellipticCurve(curve))
        let folder = factory.folder.path
        for cipher in [ContentCipher.aes256GCM, .aes128CBC] {
            let ours = try encrypt(sample(1000), to: [Recipient(unchecked: certificate)], cipher)
            #expect(try decrypt(ours, certificate, key) == sample(1000))
            let opened = try OpenSSLCommand().cms(
                "-decrypt -inform DER -recip \(folder)/one.pem -inkey \(folder)/one.key",
                input: ours
            )
            #expect(opened == sample(1000))
            let theirs = try OpenSSLCommand().cms(
                "-encrypt -outform DER -\(cipher.name) -recip \(folder)/one.pem",
                input: sample(1000)
            )
            #expect(try decrypt(theirs, certificate, key) == sample(1000))
        }
        try signBothWays(certificate, key, folder: folder, digests: [.sha256, .sha384, .sha512])
    }

    @Test(arguments: [
        ("sha256", "sha256", 32), ("sha384", "sha256", 48), ("sha512", "sha512", 20), ("sha256", "sha256", 64),
    ])
    func `a key restricted to PSS parameters signs with them`(digest: String, mask: String, salt: Int) throws {
        let factory = try issue(
            "RSA-PSS -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_pss_keygen_md:\(digest)"
                + " -pkeyopt rsa_pss_keygen_mgf1_md:\(mask) -pkeyopt rsa_pss_keygen_saltlen:\(salt)"
        )
        let (certificate, key) = try pair(factory)
        let only = try #require(DigestAlgorithm(rawValue: digest))
        #expect(certificate.signatureDigests == [only])
        try signBothWays(certificate, key, folder: factory.folder.path, digests: [only])
        let other = DigestAlgorithm.sha384 == only ? DigestAlgorithm.sha256 : .sha384
        #expect(throws: CMSError.self) { try sign(certificate, key, digest: other) }
    }

    @Test func `DSA is read with a warning and never written`() throws {
        var factory = try CertificateFactory()
        try factory.makeDSAKey("one")
        try factory.issue("one", subject: "/CN=One", extensions: CertificateFactory.person("one@example.com"))
        let (certificate, key) = try pair(factory)
        for options in ["-md sha256", "-md sha256 -noattr", "-md sha1"] {
            let signed = try OpenSSLCommand().cms(
                "-sign -nodetach -outform DER -signer \(factory.folder.path)/one.pem -inkey \(factory.folder.path)/one.key \(options)",
                input: sample(10)
            )
            let data = try SignedData(reading: ByteStream(signed))
            let check = data.check(try #require(data.signers.first), candidates: data.certificates)
            let expected: Set = options.contains("sha1") ? ["signature-dsa", "digest-sha1"] : ["signature-dsa"]
            #expect(Set(check.problems.map(\.code)) == expected)
            #expect(check.problems.allSatisfy { $0.level == .warning })
        }
        #expect(throws: CMSError.self) { try sign(certificate, key, digest: .sha256) }
        #expect(!certificate.canSign)
    }

    @Test(arguments: ["PRIVATE KEY", "RSA PRIVATE KEY", "DSA PRIVATE KEY", "EC PRIVATE KEY"])
    func `a large DSA key without its public half is refused before any computation`(label: String) throws {
        func number(_ count: Int) -> [UInt8] { tlv(0x02, [1] + [UInt8](repeating: 0xA5, count: count)) }
        func tlv(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
            [tag, 0x84] + Swift.withUnsafeBytes(of: UInt32(contents.count).bigEndian) { Array($0) } + contents
        }
        // A modulus of 800,000 bits: computing the public key would take days.
        let parameters = tlv(0x30, number(100_000) + number(32) + number(100_000))
        let algorithm = tlv(0x30, [6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 1] + parameters)
        let pkcs8 = Data(tlv(0x30, [2, 1, 0] + algorithm + tlv(0x04, number(100_000))))
        let base64 = pkcs8.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let pem = "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
        #expect(throws: CMSError.unsupported("private key of algorithm dsa")) {
            try PrivateKey(pem: Array(pem.utf8), passphrase: nil)
        }
    }

    @Test(arguments: [
        (Recipient.RSAWrapping.oaep, "sha256, mgf1 with sha256"), (.oaepSHA1, "sha1, mgf1 with sha1"),
        (.oaepSHA384, "sha384, mgf1 with sha384"), (.oaepSHA512, "sha512, mgf1 with sha512"),
    ])
    func `openssl opens OAEP with every digest`(wrapping: Recipient.RSAWrapping, detail: String) throws {
        let alice = try TestIdentity("alice")
        let message = try encrypt(
            sample(10),
            to: [Recipient(unchecked: alice.certificate, rsaWrapping: wrapping)],
            .aes256GCM
        )
        #expect(try EnvelopedData(reading: ByteStream(message)).recipients.first?.algorithmDetail == detail)
        #expect(try decrypt(message, alice.certificate, alice.key) == sample(10))
        let opened = try OpenSSLCommand().cms(
            "-decrypt -inform DER -recip \(alice.folder.path)/cert.pem -inkey \(alice.folder.path)/key.pem",
            input: message
        )
        #expect(opened == sample(10))
    }

    @Test(arguments: Recipient.RSAWrapping.allCases)
    func `nothing is encrypted to RSA under 2048 bits`(wrapping: Recipient.RSAWrapping) throws {
        let weak = try TestIdentity("weak").certificate
        #expect(throws: CMSError.unsupported("encryption to RSA 1024")) {
            try encrypt([], to: [Recipient(unchecked: weak, rsaWrapping: wrapping)], .aes256GCM)
        }
    }

    /// With the identifier of RSA alone, as openssl writes it, and with that of RFC 9688 §3.1, which has the same length.
    @Test(arguments: [(DigestAlgorithm.sha3_224, 13), (.sha3_256, 14), (.sha3_384, 15), (.sha3_512, 16)] as [Numbered])
    func `a signature over SHA-3 is read`(digest: DigestAlgorithm, last: UInt8) throws {
        let alice = try TestIdentity("alice")
        let options = "-signer \(alice.folder.path)/cert.pem -inkey \(alice.folder.path)/key.pem -md \(digest.rawValue)"
        var signed = try OpenSSLCommand().cms("-sign -nodetach -outform DER \(options)", input: sample(100))
        #expect(try SignedData(reading: ByteStream(signed)).signers.first?.digestName == digest.rawValue)
        #expect(try problems(signed) == [])
        #expect(DigestAlgorithm(micalg: digest.micalg) == digest)

        let rsa: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1]
        let place = try #require(signed.indices.dropLast(rsa.count).last { signed[$0...].starts(with: rsa) })
        signed.replaceSubrange(place..<place + rsa.count, with: [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, last])
        #expect(try SignedData(reading: ByteStream(signed)).signers.first?.signatureName == "rsa-pkcs1")
        #expect(try problems(signed) == [])
        signed[place + rsa.count - 1] = last == 16 ? 13 : last + 1
        #expect(try problems(signed) != [], "another digest than the signer's")
    }

    /// With the identifiers of RFC 9688 §3.2, which openssl 3.0 does not write.
    @Test(arguments: [(DigestAlgorithm.sha3_224, 9), (.sha3_256, 10), (.sha3_384, 11), (.sha3_512, 12)] as [Numbered])
    func `an ECDSA signature over SHA-3 is read`(digest: DigestAlgorithm, last: UInt8) throws {
        let signer = try TestIdentity("p384")
        let options = "pkeyutl -sign -rawin -digest \(digest.rawValue) -inkey \(signer.folder.path)/key.pem"
        let signature = try OpenSSLCommand().run(options, input: sample(100))
        let key = try #require(signer.certificate.subjectKeyIdentifier)
        func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
            let content = Array(parts.joined())
            return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)] + content
        }
        let hash = element(0x30, [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, last - 2])
        let algorithm = element(0x30, [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, last])
        let info = element(0x30, [2, 1, 3], element(0x80, key), hash, algorithm, element(4, signature))
        let pkcs7: [UInt8] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7]
        let content = element(0x30, pkcs7 + [1], element(0xa0, element(4, sample(100))))
        let certificates = element(0xa0, signer.certificate.der)
        let data = element(0x30, [2, 1, 3], element(0x31, hash), content, certificates, element(0x31, info))
        let signed = element(0x30, pkcs7 + [2], element(0xa0, data))
        #expect(try SignedData(reading: ByteStream(signed)).signers.first?.signatureName == "ecdsa")
        #expect(try problems(signed) == [])
    }

    /// The first 64 bytes for the empty message, from FIPS 202.
    @Test func `SHAKE256 gives 512 bits`() throws {
        let expected = """
            46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f\
            d75dc4ddd8c0f200cb05019d67b592f6fc821c49479ab48640292eacb3b7c4be
            """
        let value = try DigestAlgorithm.shake256.digest([])
        #expect(value.hexadecimal == expected)
    }

    private func sign(_ certificate: Certificate, _ key: PrivateKey, digest: DigestAlgorithm) throws -> [UInt8] {
        try SignedDataWriter.Signer(Identity(unchecked: certificate, key), digest: digest).signed(sample(100), at: time)
    }

    private func signBothWays(
        _ certificate: Certificate,
        _ key: PrivateKey,
        folder: String,
        digests: [DigestAlgorithm]
    ) throws {
        for digest in digests {
            let signed = try sign(certificate, key, digest: digest)
            #expect(try problems(signed) == [])
            #expect(try OpenSSLCommand().cms("-verify -inform DER -noverify", input: signed) == sample(100))
            let pss = certificate.publicKeyAlgorithm == .rsaPSS(2048) ? "-keyopt rsa_padding_mode:pss" : ""
            let theirs = try OpenSSLCommand().cms(
                "-sign -nodetach -outform DER -md \(digest.rawValue) -signer \(folder)/one.pem -inkey \(folder)/one.key \(pss)",
                input: sample(100)
            )
            #expect(try problems(theirs) == [])
        }
    }

    private func problems(_ signed: [UInt8]) throws -> [Problem] {
        let data = try SignedData(reading: ByteStream(signed))
        return data.check(try #require(data.signers.first), candidates: data.certificates).problems
    }
}
