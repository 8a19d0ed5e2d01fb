import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

/// A scheme for agreeing on a key-encryption key with a recipient. Each scheme is a row of the table `rows`.
///
/// Ephemeral-static ECDH on curves (RFC 5753 §7.1) and with X25519 (RFC 8418 §2).
struct KeyAgreementScheme: Sendable {
    /// How a key is derived from the agreed secret.
    enum Derivation: Sendable {
        /// The key derivation function of X9.63 (RFC 5753 §7.1.4).
        case x963
        /// HKDF (RFC 5869). The salt is the user keying material; there is no salt if the material is absent (RFC 8418 §2.2).
        case hkdf
    }

    let oid: ASN1ObjectIdentifier
    let derivation: Derivation
    let kdfDigest: DigestAlgorithm

    /// Schemes with SHA-1 are only used to read. All supported curves have the cofactor 1, so ECDH with and without cofactor
    /// is the same.
    private static let rows: [KeyAgreementScheme] = [
        KeyAgreementScheme([1, 3, 133, 16, 840, 63, 0, 2], .x963, kdfDigest: .sha1),
        KeyAgreementScheme([1, 3, 132, 1, 11, 0], .x963, kdfDigest: .sha224),
        KeyAgreementScheme([1, 3, 132, 1, 11, 1], .x963, kdfDigest: .sha256),
        KeyAgreementScheme([1, 3, 132, 1, 11, 2], .x963, kdfDigest: .sha384),
        KeyAgreementScheme([1, 3, 132, 1, 11, 3], .x963, kdfDigest: .sha512),
        KeyAgreementScheme([1, 3, 133, 16, 840, 63, 0, 3], .x963, kdfDigest: .sha1),
        KeyAgreementScheme([1, 3, 132, 1, 14, 0], .x963, kdfDigest: .sha224),
        KeyAgreementScheme([1, 3, 132, 1, 14, 1], .x963, kdfDigest: .sha256),
        KeyAgreementScheme([1, 3, 132, 1, 14, 2], .x963, kdfDigest: .sha384),
        KeyAgreementScheme([1, 3, 132, 1, 14, 3], .x963, kdfDigest: .sha512),
        KeyAgreementScheme([1, 2, 840, 113549, 1, 9, 16, 3, 19], .hkdf, kdfDigest: .sha256),
        KeyAgreementScheme([1, 2, 840, 113549, 1, 9, 16, 3, 20], .hkdf, kdfDigest: .sha384),
        KeyAgreementScheme([1, 2, 840, 113549, 1, 9, 16, 3, 21], .hkdf, kdfDigest: .sha512),
    ]

    /// The schemes that smime announces in its signatures.
    static let announced = rows.filter { row in
        row.oid == [1, 3, 132, 1, 11, 1] || row.oid == [1, 3, 132, 1, 11, 2]
            || row.derivation == .hkdf && row.kdfDigest == .sha256
    }

    private init(_ oid: ASN1ObjectIdentifier, _ derivation: Derivation, kdfDigest: DigestAlgorithm) {
        self.oid = oid
        self.derivation = derivation
        self.kdfDigest = kdfDigest
    }

    /// The scheme with the OID `oid`; nil if there is none.
    init?(oid: ASN1ObjectIdentifier) {
        guard let row = Self.rows.first(where: { $0.oid == oid }) else { return nil }
        self = row
    }

    /// The scheme for encrypting to a key of this algorithm; nil if there is none.
    init?(writingFor key: PublicKeyAlgorithm) {
        let derivation: Derivation
        let digest: DigestAlgorithm
        switch key {
        case .x25519: (derivation, digest) = (.hkdf, .sha256)
        case .ellipticCurve:
            guard let bits = key.curveBits else { return nil }
            (derivation, digest) = (.x963, bits <= 256 ? .sha256 : bits <= 384 ? .sha384 : .sha512)
        default: return nil
        }
        guard let row = Self.rows.first(where: { $0.derivation == derivation && $0.kdfDigest == digest }) else {
            return nil
        }
        self = row
    }

    /// The name of the derivation for users, such as `sha256 kdf` or `hkdf with sha256`.
    var derivationName: String {
        switch derivation {
        case .x963: "\(kdfDigest.rawValue) kdf"
        case .hkdf: "hkdf with \(kdfDigest.rawValue)"
        }
    }

    /// Derives the key-encryption key for `wrap` from an agreed secret.
    ///
    /// RFC 5753 §7.2 (ECC-CMS-SharedInfo), RFC 8418 §2.2; libcrypto: `EVP_KDF` "X963KDF" and "HKDF"
    func keyEncryptionKey(
        from secret: SecretBytes,
        wrap: KeyWrap,
        userKeyingMaterial: [UInt8]?
    ) throws -> SecretBytes {
        let sharedInfo = try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(wrap.identifier)
                if let userKeyingMaterial {
                    try coder.serialize(
                        ASN1OctetString(contentBytes: userKeyingMaterial[...]),
                        explicitlyTaggedWithIdentifier: .context(0)
                    )
                }
                let bits = UInt32(wrap.keyCount * 8).bigEndianBytes
                try coder.serialize(
                    ASN1OctetString(contentBytes: bits[...]),
                    explicitlyTaggedWithIdentifier: .context(2)
                )
            }
        }
        let function =
            switch derivation {
            case .x963: KeyDerivationFunction.x963(info: sharedInfo)
            case .hkdf: KeyDerivationFunction.hkdf(salt: userKeyingMaterial ?? [], info: sharedInfo)
            }
        return try function.derive(secret, digest: kdfDigest, count: wrap.keyCount)
    }
}
