import ByteStreams
import LibCrypto
import Testing

/// The published values of each operation.
@Suite struct AlgorithmTests {
    private static let zeros = [UInt8](repeating: 0, count: 16)

    @Test(arguments: DigestAlgorithm.allCases) func `every digest is found, and as long as it says`(
        _ algorithm: DigestAlgorithm
    ) throws {
        #expect(Libcrypto.offersDigest(algorithm.libcryptoName))
        #expect(try algorithm.digest([]).count == algorithm.byteCount)
    }

    @Test func `a digest of pieces is that of the whole`() throws {
        // FIPS 180-2 appendix B.1
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let digester = try Digester(.sha256)
        for piece in ["a", "", "bc"] {
            let bytes = Array(piece.utf8)
            try digester.update(bytes.octets)
        }
        #expect(try digester.finish().hexadecimal == expected)
        #expect(try DigestAlgorithm.sha256.digest(Array("abc".utf8)).hexadecimal == expected)
    }

    @Test func `ciphers are found by name`() throws {
        for name in ["AES-128-CBC", "AES-256-GCM", "AES-256-CCM", "AES-256-WRAP", "ChaCha20-Poly1305"] {
            #expect(try Libcrypto.offersCipher(name, isLegacy: false), "\(name)")
        }
        #expect(Libcrypto.curveBits(oid: "1.2.840.10045.3.1.7") == 256)
    }

    @Test func `AES-128-GCM encrypts and authenticates`() throws {
        // McGrew and Viega, The Galois/Counter Mode of Operation, test case 2
        let (nonce, zeros) = ([UInt8](repeating: 0, count: 12), Self.zeros)
        let sealing = try CipherContext("AES-128-GCM", key: zeros.octets, iv: nonce, isEncrypting: true)
        let sealed = try sealing.whole(zeros.octets)
        var tag = try sealing.tag(count: 16)
        #expect(sealed.hexadecimal == "0388dace60b6a392f328c2b971b2fe78")
        #expect(tag.hexadecimal == "ab6e47d42cec13bdf53a67b21257bddf")

        let opening = try CipherContext("AES-128-GCM", key: zeros.octets, iv: nonce, isEncrypting: false)
        try opening.expectTag(tag)
        #expect(try opening.whole(sealed.octets) == zeros)

        tag[0] ^= 1
        let refusing = try CipherContext("AES-128-GCM", key: zeros.octets, iv: nonce, isEncrypting: false)
        try refusing.expectTag(tag)
        #expect(throws: OpenSSLError.self) { try refusing.whole(sealed.octets) }
    }

    @Test func `a key of the wrong length is refused`() {
        for count in [0, 15, 17] {
            let key = [UInt8](repeating: 1, count: count)
            #expect(throws: OpenSSLError.self) {
                _ = try CipherContext("AES-128-CBC", key: key.octets, iv: Self.zeros, isEncrypting: true)
            }
        }
    }

    @Test func `keys are derived`() throws {
        // RFC 5869 appendix A.1
        let input = SecretBytes(copying: [UInt8](repeating: 0x0B, count: 22))
        let hkdf = KeyDerivationFunction.hkdf(salt: Array(0...12), info: Array(0xF0...0xF9))
        #expect(
            try hkdf.derive(input, digest: .sha256, count: 42).copied().hexadecimal
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        )
        // RFC 6070
        let password = SecretBytes(copying: Array("password".utf8))
        let derived = try PasswordDerivation.pbkdf2(
            password,
            "SHA1",
            salt: Array("salt".utf8),
            iterations: 1,
            count: 20
        )
        #expect(derived.copied().hexadecimal == "0c60c80f961f0e71f3a9b524af6012062fe037a6")
    }

    @Test func `a MAC is computed`() throws {
        // RFC 4231 §4.3
        let mac = try MessageAuthentication.hmac(
            Array("what do ya want for nothing?".utf8),
            key: SecretBytes(copying: Array("Jefe".utf8)),
            digest: "SHA2-256"
        )
        #expect(mac.hexadecimal == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
