import COpenSSL
import SwiftASN1

/// A content-encryption algorithm with the parameters of one message.
struct ContentEncryption: Sendable {
    let cipher: ContentCipher
    let iv: [UInt8]
    /// The length of the key in bytes.
    let keyCount: Int
    /// The length of the authentication tag in bytes; 0 for CBC.
    let tagCount: Int

    /// Reads what `EncryptedContentInfo` says.
    ///
    /// - Throws: `CMSError.unsupported` with the number of an algorithm that has no row; `CMSError.malformed` for
    ///   parameters that no sender may write.
    init(_ identifier: AlgorithmIdentifier) throws {
        guard let cipher = ContentCipher(oid: identifier.algorithm) else {
            throw CMSError.unsupported("content encryption \(identifier.algorithm)")
        }
        guard let parameters = identifier.parameters else { throw CMSError.malformed(.cms, "cipher parameters") }
        self.cipher = cipher
        if cipher.mode == .gcm {
            (iv, tagCount) = try Self.gcmParameters(parameters)
            keyCount = cipher.keyCount
        } else if cipher.oid == ContentCipher.rc2OID {
            (iv, keyCount) = try Self.rc2Parameters(parameters)
            tagCount = 0
        } else {
            iv = Array(try ASN1OctetString(berEncoded: parameters).bytes)
            (keyCount, tagCount) = (cipher.keyCount, 0)
        }
        guard cipher.mode == .gcm || iv.count == cipher.ivCount else {
            throw CMSError.malformed(.cms, "cipher parameters")
        }
    }

    /// A fresh encryption with a random vector.
    init(writing cipher: ContentCipher) throws {
        self.cipher = cipher
        iv = try randomBytes(count: cipher.ivCount)
        keyCount = cipher.keyCount
        tagCount = cipher.mode == .gcm ? 16 : 0
    }

    /// The AlgorithmIdentifier to write.
    var identifier: AlgorithmIdentifier {
        get throws {
            let nonce = ASN1OctetString(contentBytes: iv[...])
            let parameters = try der { coder in
                guard cipher.mode == .gcm else { return try coder.serialize(nonce) }
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(nonce)
                    try coder.serialize(tagCount)
                }
            }
            return AlgorithmIdentifier(cipher.oid, parameters: parameters)
        }
    }

    /// The cipher at work with `key`.
    func makeContext(_ key: SecretBytes, isEncrypting: Bool) throws -> CipherContext {
        let (isGCM, isRC2) = (cipher.mode == .gcm, cipher.oid == ContentCipher.rc2OID)
        let library = isRC2 ? try Libcrypto.legacy() : nil
        return try key.withBytes { bytes throws(OpenSSLError) in
            try CipherContext(
                cipher.libcryptoName,
                key: bytes,
                iv: iv,
                isEncrypting: isEncrypting,
                library: library
            ) { context throws(OpenSSLError) in
                if isGCM {
                    let result = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, CInt(iv.count), nil)
                    try check(result, "EVP_CIPHER_CTX_ctrl")
                }
                if isRC2 {
                    try check(EVP_CIPHER_CTX_set_key_length(context, CInt(keyCount)), "EVP_CIPHER_CTX_set_key_length")
                    let result = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_SET_RC2_KEY_BITS, CInt(keyCount * 8), nil)
                    try check(result, "EVP_CIPHER_CTX_ctrl")
                }
            }
        }
    }

    /// `GCMParameters` (RFC 5084 §3.2): the tag length defaults to 12 octets, and no tag is shorter.
    private static func gcmParameters(_ encoded: [UInt8]) throws -> (nonce: [UInt8], tagCount: Int) {
        try BER.sequence(BER.parse(encoded), identifier: .sequence) { nodes in
            let nonce = Array(try ASN1OctetString(berEncoded: &nodes).bytes)
            let tagCount = try nodes.next().map { try Int(berEncoded: $0) } ?? 12
            guard (12...16).contains(tagCount), (1...64).contains(nonce.count) else {
                throw CMSError.malformed(.cms, "GCM parameters")
            }
            return (nonce, tagCount)
        }
    }

    /// `RC2-CBCParameter` (RFC 3370 §5.2): the version stands for the effective key bits.
    private static func rc2Parameters(_ encoded: [UInt8]) throws -> (iv: [UInt8], keyCount: Int) {
        try BER.sequence(BER.parse(encoded), identifier: .sequence) { nodes in
            let version = try Int(berEncoded: &nodes)
            let iv = Array(try ASN1OctetString(berEncoded: &nodes).bytes)
            switch version {
            case 160: return (iv, 5)
            case 120: return (iv, 8)
            case 58: return (iv, 16)
            default: throw CMSError.unsupported("RC2 with parameter version \(version)")
            }
        }
    }
}
