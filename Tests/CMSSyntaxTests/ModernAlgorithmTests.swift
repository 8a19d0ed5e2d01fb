import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// Algorithms that RFC 8551 requires but `openssl cms` 3.0 lacks: Ed25519, X25519, ChaCha20-Poly1305.
@Suite struct ModernAlgorithmTests {
    private let time = Date(timeIntervalSince1970: 1_790_000_000)

    private func dana(encryption: Bool = false) throws -> (certificate: Certificate, key: PrivateKey) {
        let prefix = encryption ? "encrypt-" : ""
        return try (
            Certificate(fixture: "dana/\(prefix)cert.pem"),
            PrivateKey(pem: Fixtures.cert("dana/\(prefix)key.pem"), passphrase: nil)
        )
    }

    private func sign(_ content: [UInt8], isDetached: Bool = false) throws -> [UInt8] {
        let (certificate, key) = try dana()
        let signer = SignedDataWriter.Signer(Identity(unchecked: certificate, key))
        #expect(signer.digest == .sha512)
        return try signer.signed(content, isDetached: isDetached, at: time)
    }

    private func codes(_ data: SignedData) throws -> [String] {
        let signer = try #require(data.signers.first)
        return data.check(signer, candidates: data.certificates).problems.map(\.code)
    }

    @Test(arguments: [0, 1, 300_000])
    func `an Ed25519 signature verifies only over its content`(count: Int) throws {
        let signed = try sign(sample(count))
        let data = try SignedData(reading: ByteStream(signed))
        #expect(data.signers.first?.signatureName == "ed25519")
        #expect(data.signers.first?.digestName == "sha512")
        #expect(try codes(data) == [])
        var detached = try SignedData(reading: ByteStream(sign(sample(count), isDetached: true)))
        try detached.hashDetached(ByteStream(sample(count)))
        #expect(try codes(detached) == [])
        try detached.hashDetached(ByteStream(sample(count + 1)))
        #expect(try codes(detached) == ["content-changed"])
        var changed = signed
        changed[changed.count - 1] ^= 1
        #expect(try codes(SignedData(reading: ByteStream(changed))) == ["signature-invalid"])
    }

    /// The signed attributes are extracted from the message and passed to the command as a file.
    @Test func `openssl verifies the Ed25519 signature over the signed attributes`() throws {
        let signed = try sign(sample(100))
        let openssl = try OpenSSLCommand()
        let data = try SignedData(reading: ByteStream(signed))
        let signer = try #require(data.signers.first)
        var attributes = try #require(signer.signedAttributesEncoding)
        attributes[0] = 0x31
        try Data(signer.signature).write(to: openssl.folder.appending(path: "signature"))
        let key = Fixtures.certs.appending(path: "dana/cert.pem").path
        _ = try openssl.run("pkeyutl -verify -rawin -certin -inkey \(key) -sigfile signature", input: attributes)
    }

    /// No command writes this, so the structure is assembled here around openssl's signature.
    @Test func `an Ed25519 signature without signed attributes is over the content itself`() throws {
        for (count, expected) in [(0, []), (5000, []), (8 << 20, []), (8 << 20 + 1, ["algorithm-unsupported"])] {
            let content = sample(min(count, 1000)) + [UInt8](repeating: 7, count: max(0, count - 1000))
            let signed = try bareSignature(content)
            #expect(try codes(SignedData(reading: ByteStream(signed))) == expected)
        }
        var changed = try bareSignature(sample(5000))
        changed[300] ^= 1
        #expect(try codes(SignedData(reading: ByteStream(changed))) == ["signature-invalid"])
    }

    private func bareSignature(_ content: [UInt8]) throws -> [UInt8] {
        let (certificate, key) = try dana()
        let signature = try key.handle.sign(message: content)
        func tlv(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
            let content = parts.flatMap { $0 }
            let octets = withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) }
            return [tag, 0x84] + octets + content
        }
        let encodedDigest = try AlgorithmIdentifier(DigestAlgorithm.sha512.oid).encoded()
        guard
            case .issuerAndSerial(let issuer, let serial) = try #require(
                SignedData(reading: ByteStream(sign([]))).signers.first
            ).identifier
        else { return [] }
        let info = tlv(
            0x30,
            [2, 1, 1],
            tlv(0x30, issuer, tlv(0x02, serial)),
            encodedDigest,
            [0x30, 5, 6, 3, 0x2B, 0x65, 0x70],
            tlv(0x04, signature)
        )
        let data: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        let signedData: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]
        let inner = tlv(0x30, data, tlv(0xA0, tlv(0x04, content)))
        let body = tlv(0x30, [2, 1, 1], tlv(0x31, encodedDigest), inner, tlv(0xA0, certificate.der), tlv(0x31, info))
        return tlv(0x30, signedData, tlv(0xA0, body))
    }

    @Test(arguments: [DigestAlgorithm.sha256, .sha384])
    func `Ed25519 signs with SHA-512 only`(digest: DigestAlgorithm) throws {
        let (certificate, key) = try dana()
        let signer = SignedDataWriter.Signer(Identity(unchecked: certificate, key), digest: digest)
        #expect(throws: CMSError.unsupported("signing with Ed25519 and \(digest.rawValue)")) {
            try SignedDataWriter(signer: signer, contentDigest: [], contentCount: nil, time: time)
        }
    }

    @Test(arguments: ContentCipher.writable.map(\.name), [0, 1, 16, 100_000])
    func `a message to X25519 and every other kind of recipient opens for each`(cipher: String, count: Int) throws {
        let (certificate, key) = try dana(encryption: true)
        let others = try ["alice", "carol", "p521"].map { try TestIdentity($0) }
        let message = try encrypt(
            sample(count),
            to: [Recipient(unchecked: certificate)]
                + others.map { Recipient(unchecked: $0.certificate, rsaWrapping: .oaep) },
            #require(ContentCipher(writable: cipher))
        )
        for (certificate, key) in [(certificate, key)] + others.map({ ($0.certificate, $0.key) }) {
            #expect(try decrypt(message, certificate, key) == sample(count))
        }
        let data = try EnvelopedData(reading: ByteStream(message))
        #expect(data.algorithm == cipher)
        let detail = data.recipients.first { $0.identifier?.matches(certificate) == true }?.algorithmDetail
        #expect(detail?.hasPrefix("hkdf with sha256, aes-") == true)
        let foreign = try data.key(for: #require(data.recipients.first), with: TestIdentity("bob").key)
        // With CBC, one wrong key in 256 is not noticed.
        if !cipher.hasSuffix("-cbc") {
            #expect(throws: CMSError.decryptionFailed) { try data.check(with: foreign) { CountingSink() } }
        }
    }

    /// Performs agreement, HKDF, key unwrapping and CBC with openssl commands, on values taken from the message.
    @Test func `content encrypted to X25519 decrypts with the primitives of openssl`() throws {
        let (certificate, _) = try dana(encryption: true)
        let message = try encrypt(sample(100), to: [Recipient(unchecked: certificate)], .aes256CBC)
        let openssl = try OpenSSLCommand()
        try Data(message).write(to: openssl.folder.appending(path: "message"))
        let key = Fixtures.certs.appending(path: "dana/encrypt-key.pem").path
        // ECC-CMS-SharedInfo of RFC 5753 §7.2 for aes-256-wrap without parameters and 256 bits.
        let info = "3015300b060960864801650304012da2060404" + "00000100"
        let script = """
            hex() { xxd -p | tr -d '\\n'; }
            all=$(hex <message)
            point=$(printf %s "$all" | sed 's/.*300506032b656e032100\\(.\\{64\\}\\).*/\\1/')
            printf '302a300506032b656e032100%s' "$point" | xxd -r -p | openssl pkey -pubin -inform DER -out peer.pem
            z=$(openssl pkeyutl -derive -inkey \(key) -peerkey peer.pem | hex)
            kek=$(openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:$z -kdfopt hexinfo:\(info) -binary HKDF | hex)
            wrapped=$(printf %s "$all" | sed 's/.*0428\\(.\\{80\\}\\)30[0-9a-f]\\{2,6\\}06092a864886f70d0107.*/\\1/')
            cek=$(printf %s "$wrapped" | xxd -r -p | openssl enc -d -id-aes256-wrap -iv A6A6A6A6A6A6A6A6 -K $kek | hex)
            iv=$(printf %s "$all" | sed 's/.*060960864801650304012a0410\\(.\\{32\\}\\).*/\\1/')
            tail -c 112 message | openssl enc -d -aes-256-cbc -iv $iv -K $cek -out opened
            """
        let result = try CommandRunner("sh", folder: openssl.folder).run(["-ec", script])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try Array(Data(contentsOf: openssl.folder.appending(path: "opened"))) == sample(100))
    }

    /// Assembled from openssl's primitives with a fixed ephemeral key. The user keying material is the salt of HKDF and is
    /// also contained in ECC-CMS-SharedInfo (RFC 8418 §2.2).
    @Test func `user keying material is used in HKDF as salt and in the info structure`() throws {
        let vector = """
            MIIBEAYJKoZIhvcNAQcDoIIBATCB/gIBAjGBqqGBpwIBA6AsoSowBQYDK2VuAyEAeaYx7t4b+cmPEgMs3q3Q56B5OY/HhriMyEbs\
            ia+FpRqhEgQQoKGio6SlpqeoqaqrrK2urzAaBgsqhkiG9w0BCRADEzALBglghkgBZQMEAS0wRDBCoBYEFMi+2tvZy/9MNEbWOZg4\
            FCzZfXRFBCjv7nJB7lx5MBILr7fRczUt/y0uPXupRnTClPqvbIT4S7+KRdprKHMIMEwGCSqGSIb3DQEHATAdBglghkgBZQMEASoE\
            EBAREhMUFRYXGBkaGxwdHh+AIGIjhX7GEYQeiXS6Co+yv4TNUECWAyNWA+k7ijPeEsmW
            """
        let (certificate, key) = try dana(encryption: true)
        let message = try Array(base64: Array(vector.utf8))
        let content = Array("salted by the sender".utf8)
        #expect(try decrypt(message, certificate, key) == content)
        let material = try #require(message.firstRange(of: Array(0xA0...0xAF)))
        var changed = message
        changed[material.lowerBound] ^= 1
        // With CBC, the random key of a failed unwrap is not noticed once in 256 times; the content is noise then.
        #expect((try? decrypt(changed, certificate, key)) != content)
    }

    /// A public key of small order makes the secret all zeros (RFC 7748 §6.1), so an attacker would know the key.
    @Test func `an X25519 secret of zeros opens nothing`() throws {
        let (certificate, key) = try dana(encryption: true)
        let message = try encrypt(sample(10), to: [Recipient(unchecked: certificate)], .aes256GCM)
        let header: [UInt8] = [0x30, 5, 6, 3, 0x2B, 0x65, 0x6E, 3, 0x21, 0]
        let start = try #require(message.firstRange(of: header)?.upperBound)
        for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            var changed = message
            changed.replaceSubrange(start..<start + 32, with: point)
            #expect(throws: CMSError.decryptionFailed) { try decrypt(changed, certificate, key) }
            #expect(throws: OpenSSLError.self) { try key.handle.agree(withEncodedPoint: point) }
        }
    }

    @Test func `a point off the curve opens nothing`() throws {
        let carol = try TestIdentity("carol")
        #expect(throws: OpenSSLError.self) {
            try carol.key.handle.agree(withEncodedPoint: [4] + [UInt8](repeating: 3, count: 64))
        }
    }

    @Test func `a key of the second version of PKCS#8 is read without its public half`() throws {
        let (_, key) = try dana()
        let encoded = try key.withPKCS8 { Array($0) }
        // OneAsymmetricKey, version 2: the version number is 1, and the public key is in [1].
        let second =
            [0x30, encoded[1] + 35, 2, 1, 1] + encoded.dropFirst(5) + [0x81, 0x21, 0] + key.publicKeyInfo.suffix(32)
        #expect(try PrivateKey(pkcs8: second).publicKeyInfo == key.publicKeyInfo)
        guard case .privateKey(let read) = try #require(KeyMaterial.read(second).first) else {
            Issue.record("not read as a private key")
            return
        }
        #expect(try read.decode(passphrase: nil).algorithm == .ed25519)
    }
}

func encrypt(_ content: [UInt8], to recipients: [Recipient], _ cipher: ContentCipher) throws -> [UInt8] {
    let writer = try EnvelopedDataWriter(to: recipients, cipher: cipher, contentCount: content.count)
    let sink = MemorySink()
    try writer.write(to: sink) { try $0.write(content) }
    return sink.bytes
}

func decrypt(_ message: [UInt8], _ certificate: Certificate, _ key: PrivateKey) throws -> [UInt8] {
    let data = try EnvelopedData(reading: ByteStream(message))
    guard let recipient = data.recipients.first(where: { $0.identifier?.matches(certificate) == true }) else {
        throw CMSError.noKeyPair
    }
    let (content, _) = try data.check(with: data.key(for: recipient, with: key)) { CountingSink() }
    return try content.stream.bytes()
}
