import LibCrypto
import SwiftASN1

extension PasswordEncryption {
    static let pbes2OID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 13]
    static let tripleDESOID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 1, 3]

    /// Reads the scheme and its parameters.
    ///
    /// - Throws: `CMSError.unsupported` with the name or OID of an algorithm that is not in the tables below.
    init(_ identifier: AlgorithmIdentifier) throws {
        guard let encoded = identifier.parameters else {
            throw ElementReader.Mismatch(description: "encryption without parameters")
        }
        var fields = try ElementReader(ASN1Node.read(encoded))
        if identifier.algorithm == Self.pbes2OID {
            let function = try KeyDerivation(AlgorithmIdentifier(berEncoded: fields.next(.sequence)))
            let scheme = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
            (cipher, derivation) = try Self.pbes2(function, scheme)
            return
        }
        let salt = try KeyDerivation.salt(fields.next(.octetString))
        let iterations = try fields.next(.integer).integer()
        guard iterations > 0 else { throw ElementReader.Mismatch(description: "no iterations") }
        if let row = Self.pkcs12Rows.first(where: { $0.oid == identifier.algorithm }) {
            cipher = row.cipher
            derivation = .pkcs12(salt: salt, iterations: iterations)
        } else if let row = Self.pbes1Rows.first(where: { $0.oid == identifier.algorithm }) {
            guard salt.count == 8 else { throw ElementReader.Mismatch(description: "salt of \(salt.count) bytes") }
            cipher = row.cipher
            derivation = .pbes1(row.digest, salt: salt, iterations: iterations)
        } else {
            throw CMSError.unsupported("encryption scheme \(identifier.algorithm)")
        }
    }

    private static func pbes2(
        _ function: KeyDerivation,
        _ scheme: AlgorithmIdentifier
    ) throws -> (Cipher, Derivation) {
        guard let parameters = scheme.parameters else { throw ElementReader.Mismatch(description: "no parameters") }
        let node = try ASN1Node.read(parameters)
        var cipher: Cipher
        let iv: [UInt8]
        if scheme.algorithm == ContentCipherOID.rc2 {
            (cipher, iv) = try rc2(node, keyCount: function.keyCount ?? 16)
        } else if let row = pbes2Rows.first(where: { $0.oid == scheme.algorithm }) {
            (cipher, iv) = (row.cipher, try Self.iv(node))
            if cipher.hasVariableKey, let count = function.keyCount, (5...56).contains(count) {
                cipher = Cipher(
                    name: cipher.name,
                    libcryptoName: cipher.libcryptoName,
                    keyCount: count,
                    ivCount: cipher.ivCount,
                    isLegacy: cipher.isLegacy,
                    hasVariableKey: true
                )
            }
            // Old versions of NSS always name AES-128; the key length tells which AES cipher was used.
            if cipher.name.hasPrefix("AES"), let count = function.keyCount, count != cipher.keyCount {
                let meant = pbes2Rows.first { $0.cipher.keyCount == count && $0.cipher.name.hasPrefix("AES") }
                cipher = meant?.cipher ?? cipher
            }
        } else {
            throw CMSError.unsupported("cipher \(scheme.algorithm)")
        }
        guard iv.count == cipher.ivCount, function.keyCount ?? cipher.keyCount == cipher.keyCount else {
            throw ElementReader.Mismatch(description: "wrong key or IV length for \(cipher.name)")
        }
        return (cipher, .pbes2(function, iv: iv))
    }

    /// The initialization vector: alone in most schemes, followed by a key length in CAST5 (RFC 2984 §3.1).
    private static func iv(_ node: ASN1Node) throws -> [UInt8] {
        guard node.identifier == .sequence else { return try node.octets() }
        var fields = try ElementReader(node)
        return try fields.next(.octetString).octets()
    }

    /// RC2-CBC-Parameter (RFC 8018 appendix B.2.3): a version number encodes the effective key length.
    private static func rc2(_ node: ASN1Node, keyCount: Int) throws -> (Cipher, [UInt8]) {
        let version: Int
        let iv: [UInt8]
        if node.identifier == .sequence {
            var fields = try ElementReader(node)
            version = try fields.optional(.integer)?.integer(upTo: 1024) ?? 0
            iv = try fields.next(.octetString).octets()
        } else {
            (version, iv) = (0, try node.octets())
        }
        let bits = [160: 40, 120: 64, 58: 128][version] ?? (version >= 256 ? version : 32)
        guard (1...128).contains(keyCount) else { throw ElementReader.Mismatch(description: "RC2 key length") }
        let cipher = Cipher(
            name: "RC2-\(bits)",
            libcryptoName: "RC2-CBC",
            keyCount: keyCount,
            ivCount: 8,
            isLegacy: true,
            effectiveBits: bits
        )
        return (cipher, iv)
    }

    private enum ContentCipherOID {
        static let rc2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 3, 2]
    }

    private static let tripleDES = Cipher(name: "3DES", libcryptoName: "DES-EDE3-CBC", keyCount: 24, ivCount: 8)
    private static let des = Cipher(name: "DES", libcryptoName: "DES-CBC", keyCount: 8, ivCount: 8, isLegacy: true)
    static let aes256 = Cipher(name: "AES-256", libcryptoName: "AES-256-CBC", keyCount: 32, ivCount: 16)
    static let aes256OID: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]

    /// RFC 8018 appendix B.2. Only AES-256 is also written. The ciphers after AES are older or national ciphers that
    /// libcrypto's PKCS#12 writes on request (RFC 3657, RFC 5794, RFC 4010, RFC 2984).
    private static let pbes2Rows: [(oid: ASN1ObjectIdentifier, cipher: Cipher)] = [
        (
            [2, 16, 840, 1, 101, 3, 4, 1, 2],
            Cipher(name: "AES-128", libcryptoName: "AES-128-CBC", keyCount: 16, ivCount: 16)
        ),
        (
            [2, 16, 840, 1, 101, 3, 4, 1, 22],
            Cipher(name: "AES-192", libcryptoName: "AES-192-CBC", keyCount: 24, ivCount: 16)
        ),
        (aes256OID, aes256),
        ([1, 2, 840, 113549, 3, 7], tripleDES),
        ([1, 3, 14, 3, 2, 7], des),
        (
            [1, 2, 392, 200011, 61, 1, 1, 1, 2],
            Cipher(name: "Camellia-128", libcryptoName: "CAMELLIA-128-CBC", keyCount: 16, ivCount: 16)
        ),
        (
            [1, 2, 392, 200011, 61, 1, 1, 1, 3],
            Cipher(name: "Camellia-192", libcryptoName: "CAMELLIA-192-CBC", keyCount: 24, ivCount: 16)
        ),
        (
            [1, 2, 392, 200011, 61, 1, 1, 1, 4],
            Cipher(name: "Camellia-256", libcryptoName: "CAMELLIA-256-CBC", keyCount: 32, ivCount: 16)
        ),
        (
            [1, 2, 410, 200046, 1, 1, 2],
            Cipher(name: "ARIA-128", libcryptoName: "ARIA-128-CBC", keyCount: 16, ivCount: 16)
        ),
        (
            [1, 2, 410, 200046, 1, 1, 7],
            Cipher(name: "ARIA-192", libcryptoName: "ARIA-192-CBC", keyCount: 24, ivCount: 16)
        ),
        (
            [1, 2, 410, 200046, 1, 1, 12],
            Cipher(name: "ARIA-256", libcryptoName: "ARIA-256-CBC", keyCount: 32, ivCount: 16)
        ),
        (
            [1, 2, 410, 200004, 1, 4],
            Cipher(name: "SEED", libcryptoName: "SEED-CBC", keyCount: 16, ivCount: 16, isLegacy: true)
        ),
        (
            [1, 2, 840, 113533, 7, 66, 10],
            Cipher(
                name: "CAST5",
                libcryptoName: "CAST5-CBC",
                keyCount: 16,
                ivCount: 8,
                isLegacy: true,
                hasVariableKey: true
            )
        ),
        (
            [1, 3, 6, 1, 4, 1, 3029, 1, 2],
            Cipher(
                name: "Blowfish",
                libcryptoName: "BF-CBC",
                keyCount: 16,
                ivCount: 8,
                isLegacy: true,
                hasVariableKey: true
            )
        ),
    ]

    /// RFC 7292 appendix C.
    private static let pkcs12Rows: [(oid: ASN1ObjectIdentifier, cipher: Cipher)] = [
        (
            [1, 2, 840, 113549, 1, 12, 1, 1],
            Cipher(name: "RC4-128", libcryptoName: "RC4", keyCount: 16, ivCount: 0, isLegacy: true)
        ),
        (
            [1, 2, 840, 113549, 1, 12, 1, 2],
            Cipher(name: "RC4-40", libcryptoName: "RC4-40", keyCount: 5, ivCount: 0, isLegacy: true)
        ),
        (tripleDESOID, tripleDES),
        (
            [1, 2, 840, 113549, 1, 12, 1, 4],
            Cipher(name: "3DES with two keys", libcryptoName: "DES-EDE-CBC", keyCount: 16, ivCount: 8)
        ),
        (
            [1, 2, 840, 113549, 1, 12, 1, 5],
            Cipher(name: "RC2-128", libcryptoName: "RC2-CBC", keyCount: 16, ivCount: 8, isLegacy: true)
        ),
        (
            [1, 2, 840, 113549, 1, 12, 1, 6],
            Cipher(name: "RC2-40", libcryptoName: "RC2-40-CBC", keyCount: 5, ivCount: 8, isLegacy: true)
        ),
    ]

    /// RFC 8018 appendix A.3. The variants with RC2 use an effective key length of 64 bits.
    private static let pbes1Rows: [(oid: ASN1ObjectIdentifier, digest: DigestAlgorithm, cipher: Cipher)] = [
        ([1, 2, 840, 113549, 1, 5, 3], .md5, des), ([1, 2, 840, 113549, 1, 5, 10], .sha1, des),
        ([1, 2, 840, 113549, 1, 5, 6], .md5, rc2With64Bits), ([1, 2, 840, 113549, 1, 5, 11], .sha1, rc2With64Bits),
    ]

    private static let rc2With64Bits = Cipher(
        name: "RC2-64",
        libcryptoName: "RC2-CBC",
        keyCount: 8,
        ivCount: 8,
        isLegacy: true,
        effectiveBits: 64
    )
}
