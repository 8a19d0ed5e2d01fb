package import LibCrypto
import SwiftASN1

/// The MAC over a PKCS#12 file.
///
/// RFC 7292 §4 and appendix B, RFC 9579
package struct PKCS12MAC {
    package enum Algorithm {
        /// HMAC with a key from PKCS#12's own key derivation. `digest` is libcrypto's name of the digest for both HMAC and
        /// key derivation.
        case hmac(digest: String, byteCount: Int, salt: [UInt8], iterations: Int)
        /// HMAC with a key of `keyCount` bytes from `KeyDerivation`; `digest` is libcrypto's name of the digest.
        case pbmac1(KeyDerivation, digest: String, keyCount: Int)
    }

    let algorithm: Algorithm
    let value: [UInt8]

    private static let pbmac1OID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 14]
    /// The allowed lengths of a PBMAC1 key in bytes. With a shorter key, an attacker could find a file that passes the check
    /// (CVE-2026-34181); a key longer than a block of the digest only takes time.
    private static let keyCounts = 20...128

    /// Reads MacData.
    init(_ node: ASN1Node) throws {
        var fields = try ElementReader(node)
        var info = try ElementReader(fields.next(.sequence))
        let identifier = try AlgorithmIdentifier(berEncoded: info.next(.sequence))
        value = try info.next(.octetString).octets()
        let salt = try KeyDerivation.salt(fields.next(.octetString))
        let iterations = try fields.optional(.integer)?.integer() ?? 1
        if identifier.algorithm == Self.pbmac1OID {
            algorithm = try Self.pbmac1(identifier.parameters)
        } else if let (digest, count) = Self.digest(identifier.algorithm) {
            guard iterations > 0 else { throw ElementReader.Mismatch(description: "no iterations") }
            algorithm = .hmac(digest: digest, byteCount: count, salt: salt, iterations: iterations)
        } else {
            throw CMSError.unsupported("MAC \(identifier.algorithm)")
        }
    }

    package init(_ algorithm: Algorithm, value: [UInt8]) { (self.algorithm, self.value) = (algorithm, value) }

    /// The digest of a MAC: a digest that is also used for signatures, or a truncated SHA-512 (FIPS 180-4), which is not.
    private static func digest(_ oid: ASN1ObjectIdentifier) -> (name: String, byteCount: Int)? {
        switch oid {
        case [2, 16, 840, 1, 101, 3, 4, 2, 5]: ("SHA2-512/224", 28)
        case [2, 16, 840, 1, 101, 3, 4, 2, 6]: ("SHA2-512/256", 32)
        default: DigestAlgorithm(oid: oid).map { ($0.libcryptoName, $0.byteCount) }
        }
    }

    private static func pbmac1(_ parameters: [UInt8]?) throws -> Algorithm {
        guard let parameters else { throw ElementReader.Mismatch(description: "PBMAC1 without parameters") }
        var fields = try ElementReader(ASN1Node.read(parameters))
        let function = try KeyDerivation(AlgorithmIdentifier(berEncoded: fields.next(.sequence)))
        let scheme = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
        guard let keyCount = function.keyCount, keyCounts.contains(keyCount) else {
            throw ElementReader.Mismatch(description: "PBMAC1 without a key length from 20 to 128 bytes")
        }
        return .pbmac1(function, digest: try KeyDerivation.digest(scheme.algorithm), keyCount: keyCount)
    }

    /// The cost of one check, which the caller spends from a budget.
    ///
    /// - Throws: `CMSError.limitExceeded` if scrypt needs too much memory or time.
    func cost() throws(CMSError) -> DerivationCost {
        switch algorithm {
        case .hmac(_, let count, _, let iterations): DerivationCost(iterations, count: count, blockCount: count)
        case .pbmac1(let function, _, let keyCount): try function.cost(count: keyCount)
        }
    }

    /// Whether the MAC over `bytes` is correct for this form of the passphrase.
    package func isValid(over bytes: [UInt8], with form: PassphraseForm) throws(CMSError) -> Bool {
        let computed = try lift { () throws(OpenSSLError) in try Self.compute(algorithm, over: bytes, with: form) }
        return MessageAuthentication.areEqual(computed, and: value)
    }

    /// Computes the MAC over `bytes` with a key derived from the passphrase.
    package static func compute(
        _ algorithm: Algorithm,
        over bytes: [UInt8],
        with form: PassphraseForm
    ) throws(OpenSSLError) -> [UInt8] {
        let key: SecretBytes
        let digest: String
        switch algorithm {
        case .hmac(let name, let count, let salt, let iterations):
            digest = name
            key = try PKCS12KDF.derive(form.bmp, name, salt: salt, iterations: iterations, id: .mac, count: count)
        case .pbmac1(let function, let name, let keyCount):
            digest = name
            key = try function.derive(form.utf8, count: keyCount)
        }
        return try MessageAuthentication.hmac(bytes, key: key, digest: digest)
    }
}
