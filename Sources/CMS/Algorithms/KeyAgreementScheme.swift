import COpenSSL
import SwiftASN1

/// A way to agree on a key-encryption key with an elliptic-curve recipient: one row each.
///
/// RFC 5753 §7.1: ephemeral-static ECDH with the X9.63 key derivation function.
struct KeyAgreementScheme: Sendable {
    let oid: ASN1ObjectIdentifier
    let kdfDigest: DigestAlgorithm

    /// Every row; the SHA-1 one for reading only.
    private static let rows: [KeyAgreementScheme] = [
        KeyAgreementScheme(oid: [1, 3, 133, 16, 840, 63, 0, 2], kdfDigest: .sha1),
        KeyAgreementScheme(oid: [1, 3, 132, 1, 11, 0], kdfDigest: .sha224),
        KeyAgreementScheme(oid: [1, 3, 132, 1, 11, 1], kdfDigest: .sha256),
        KeyAgreementScheme(oid: [1, 3, 132, 1, 11, 2], kdfDigest: .sha384),
        KeyAgreementScheme(oid: [1, 3, 132, 1, 11, 3], kdfDigest: .sha512),
    ]

    private init(oid: ASN1ObjectIdentifier, kdfDigest: DigestAlgorithm) {
        self.oid = oid
        self.kdfDigest = kdfDigest
    }

    /// The row for `oid`, or nil.
    init?(oid: ASN1ObjectIdentifier) {
        guard let row = Self.rows.first(where: { $0.oid == oid }) else { return nil }
        self = row
    }

    /// The scheme to write for a key on the curve that libcrypto calls `curve`.
    init?(curve: String) {
        let digest: DigestAlgorithm
        switch curve {
        case "P-256", "prime256v1": digest = .sha256
        case "P-384", "secp384r1": digest = .sha384
        case "P-521", "secp521r1": digest = .sha512
        default: return nil
        }
        guard let row = Self.rows.first(where: { $0.kdfDigest == digest }) else { return nil }
        self = row
    }

    /// The key-encryption key for `wrap` that follows from an agreed secret.
    ///
    /// RFC 5753 §7.2 (ECC-CMS-SharedInfo); libcrypto: `EVP_KDF` "X963KDF"
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
                let bits = withUnsafeBytes(of: UInt32(wrap.keyCount * 8).bigEndian) { Array($0) }
                try coder.serialize(
                    ASN1OctetString(contentBytes: bits[...]),
                    explicitlyTaggedWithIdentifier: .context(2)
                )
            }
        }
        return try x963(secret, sharedInfo: sharedInfo, count: wrap.keyCount)
    }

    private func x963(_ secret: SecretBytes, sharedInfo: [UInt8], count: Int) throws(OpenSSLError) -> SecretBytes {
        let kdf = try Owned<EVP_KDF>(EVP_KDF_fetch(nil, "X963KDF", nil), "EVP_KDF_fetch")
        let context = try kdf.withPointer { kdf throws(OpenSSLError) in
            try Owned<EVP_KDF_CTX>(EVP_KDF_CTX_new(kdf), "EVP_KDF_CTX_new")
        }
        // libcrypto only reads what the parameters point to, for as long as the call lasts.
        return try secret.withBytes { secret throws(OpenSSLError) in
            try SecretBytes(count: count) { output throws(OpenSSLError) in
                var (info, digest) = (sharedInfo, Array(kdfDigest.libcryptoName.utf8CString))
                let result = info.withUnsafeMutableBytes { info in
                    digest.withUnsafeMutableBufferPointer { digest in
                        let secretStart = UnsafeMutableRawPointer(mutating: secret.baseAddress)
                        var parameters = [
                            OSSL_PARAM_construct_utf8_string(smime_OSSL_KDF_PARAM_DIGEST(), digest.baseAddress, 0),
                            OSSL_PARAM_construct_octet_string(smime_OSSL_KDF_PARAM_SECRET(), secretStart, secret.count),
                            OSSL_PARAM_construct_octet_string(
                                smime_OSSL_KDF_PARAM_INFO(),
                                info.baseAddress,
                                info.count
                            ),
                            OSSL_PARAM_construct_end(),
                        ]
                        let target = output.bindMemory(to: UInt8.self).baseAddress
                        return context.withPointer { EVP_KDF_derive($0, target, count, &parameters) }
                    }
                }
                try check(result, "EVP_KDF_derive")
            }
        }
    }
}
