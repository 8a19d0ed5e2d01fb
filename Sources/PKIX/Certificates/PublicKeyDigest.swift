import ByteStreams
import LibCrypto
import SwiftASN1

/// The SHA-256 of a public key. The digest is equal for all certificates of that key, however each certificate encodes the
/// key.
///
/// The SubjectPublicKeyInfo of one key has several encodings: RSA with or without parameters or as RSASSA-PSS, a curve point
/// uncompressed or compressed, numbers with or without padding. These differences are ignored. The explicit parameters of a
/// curve, however, are part of the key: an attacker who chooses the parameters can construct a private key for any point.
///
/// RFC 5480 §2.2, RFC 8017 §A.1.1, RFC 7748 §5
package struct PublicKeyDigest: Hashable, Sendable {
    /// The 32 bytes of the digest.
    package let bytes: [UInt8]

    /// The digest of the key in the SubjectPublicKeyInfo `info`.
    init(of info: [UInt8], _ algorithm: PublicKeyAlgorithm) throws(CMSError) {
        let canonical = Self.canonical(info, algorithm) ?? info
        bytes = try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(canonical) }
    }

    /// Hashes all bytes in one step; Swift would hash an array byte by byte.
    package func hash(into hasher: inout Hasher) { hasher.combine(all: bytes) }

    /// The kind of the key and its numbers; nil if the encoding itself must be digested.
    private static func canonical(_ info: [UInt8], _ algorithm: PublicKeyAlgorithm) -> [UInt8]? {
        guard let bits = info.publicKeyBits else { return nil }
        switch algorithm {
        case .rsa, .rsaPSS:
            guard var fields = try? ElementReader(ASN1Node.read(bits)),
                let modulus = try? fields.next(.integer).primitive(),
                let exponent = try? fields.next(.integer).primitive()
            else { return nil }
            let shortest = Array(modulus.drop { $0 == 0 })
            return Array("RSA \(shortest.count) ".utf8) + shortest + exponent.drop { $0 == 0 }
        case .ellipticCurve(let curve):
            // For curves that are not over a prime field, points are compressed by another rule.
            guard algorithm.curveBits != nil, let point = compressed(bits) else { return nil }
            return Array("EC \(curve) ".utf8) + point
        case .x25519:
            // X25519 ignores the highest bit of a key, so this bit is cleared.
            guard let last = bits.last else { return nil }
            return Array("X25519 ".utf8) + bits.dropLast() + [last & 0x7F]
        default: return nil
        }
    }

    /// A point in its compressed form; nil if it cannot be compressed.
    ///
    /// SEC 1 §2.3.3
    private static func compressed(_ point: [UInt8]) -> [UInt8]? {
        guard let form = point.first else { return nil }
        switch form {
        case 2, 3: return point
        case 4, 6, 7:
            guard let last = point.last, point.count % 2 == 1 else { return nil }
            return [2 | last & 1] + point[1..<(1 + point.count / 2)]
        default: return nil
        }
    }
}

extension [UInt8] {
    /// The subjectPublicKey of an encoded SubjectPublicKeyInfo; nil if it is malformed.
    var publicKeyBits: [UInt8]? {
        guard var fields = try? ElementReader(ASN1Node.read(self)) else { return nil }
        _ = try? fields.next(.sequence)
        return try? fields.next(.bitString).bits()
    }
}
