package import LibCrypto
package import PKIX
import SwiftASN1

/// A content-encryption algorithm with the parameters of one message.
package struct ContentEncryption: Sendable {
    let cipher: ContentCipher
    let iv: [UInt8]
    /// The length of the key in bytes.
    let keyCount: Int
    /// The length of the authentication tag in bytes according to the parameters; 0 for CBC.
    let tagCount: Int

    /// Reads the AlgorithmIdentifier of an EncryptedContentInfo.
    ///
    /// - Throws: `CMSError.unsupported` for an unknown algorithm or RC2 key length; `CMSError.malformed` for other invalid
    ///   parameters.
    package init(_ identifier: AlgorithmIdentifier) throws {
        guard let cipher = ContentCipher(oid: identifier.algorithm) else {
            throw CMSError.unsupported("content encryption \(identifier.displayName)")
        }
        guard let parameters = identifier.parameters else { throw CMSError.malformed(.cms, "cipher parameters") }
        self.cipher = cipher
        switch cipher.mode {
        case .gcm, .ccm:
            (iv, tagCount) = try Self.nonceAndTagCount(parameters)
            keyCount = cipher.keyCount
            try checkNonceAndTag()
            return
        case .chacha:
            iv = Array(try ASN1OctetString(berEncoded: parameters).bytes)
            (keyCount, tagCount) = (cipher.keyCount, Self.longestTag)
        case .cbc where cipher.oid == ContentCipher.rc2OID:
            (iv, keyCount) = try Self.rc2Parameters(parameters)
            tagCount = 0
        case .cbc:
            iv = Array(try ASN1OctetString(berEncoded: parameters).bytes)
            (keyCount, tagCount) = (cipher.keyCount, 0)
        }
        guard iv.count == cipher.ivCount else { throw CMSError.malformed(.cms, "cipher parameters") }
    }

    /// A new encryption with a random initialization vector or nonce.
    init(writing cipher: ContentCipher) throws {
        self.cipher = cipher
        iv = try randomBytes(count: cipher.ivCount)
        keyCount = cipher.keyCount
        tagCount = cipher.isAuthenticated ? Self.longestTag : 0
    }

    private static let longestTag = 16

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

    /// A libcrypto context of the cipher with `key`.
    ///
    /// - Parameters:
    ///   - tag: the expected tag, which only CCM needs before decryption.
    ///   - pads: whether CBC adds and checks the padding.
    package func makeContext(
        _ key: SecretBytes,
        isEncrypting: Bool,
        tag: [UInt8] = [],
        pads: Bool = true
    ) throws -> CipherContext {
        let isRC2 = cipher.oid == ContentCipher.rc2OID
        let parameters = CipherContext.Parameters(
            nonceCount: cipher.isAuthenticated ? iv.count : nil,
            tagCount: isEncrypting && cipher.mode == .ccm ? tagCount : nil,
            expectedTag: tag,
            keyCount: isRC2 ? keyCount : nil,
            effectiveKeyBits: isRC2 ? keyCount * 8 : nil
        )
        return try key.withBytes { bytes throws(OpenSSLError) in
            try CipherContext(
                cipher.libcryptoName,
                key: bytes,
                iv: iv,
                isEncrypting: isEncrypting,
                pads: pads,
                isLegacy: isRC2,
                parameters: parameters
            )
        }
    }

    /// `GCMParameters` and `CCMParameters` (RFC 5084 §3): the tag length defaults to 12 octets.
    private static func nonceAndTagCount(_ encoded: [UInt8]) throws -> (nonce: [UInt8], tagCount: Int) {
        try BER.sequence(BER.parse(encoded), identifier: .sequence) { nodes in
            let nonce = Array(try ASN1OctetString(berEncoded: &nodes).bytes)
            return (nonce, try nodes.next().map { try Int(berEncoded: $0) } ?? 12)
        }
    }

    /// Rejects nonces and tags that the mode does not allow, and every tag shorter than 12 octets.
    private func checkNonceAndTag() throws {
        let isCCM = cipher.mode == .ccm
        // GCM in libcrypto supports nonces of up to 128 octets.
        guard (12...Self.longestTag).contains(tagCount), !isCCM || tagCount.isMultiple(of: 2),
            (isCCM ? 7...13 : 1...128).contains(iv.count)
        else { throw CMSError.malformed(.cms, "\(cipher.name) parameters") }
    }

    /// `RC2-CBCParameter` (RFC 3370 §5.2): the version encodes the effective key bits.
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
