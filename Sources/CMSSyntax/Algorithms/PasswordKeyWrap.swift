import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

/// Wraps a key with a key derived from a password. CBC is applied twice, so every byte depends on all others.
///
/// id-alg-PWRI-KEK of RFC 3211 §2.3
struct PasswordKeyWrap: Sendable {
    let cipher: ContentCipher
    private let encryption: ContentEncryption

    static let oid: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 3, 9]

    /// - Throws: `CMSError.unsupported` for a cipher that is not CBC.
    init(_ encryption: ContentEncryption) throws {
        guard encryption.cipher.mode == .cbc, encryption.cipher != .rc2 else {
            throw CMSError.unsupported("wrapping under a password with \(encryption.cipher.name)")
        }
        self.encryption = encryption
        cipher = encryption.cipher
    }

    /// Reads the algorithm; its parameters name the cipher.
    init(_ identifier: AlgorithmIdentifier) throws {
        guard identifier.algorithm == Self.oid, let parameters = identifier.parameters else {
            throw CMSError.unsupported("wrapping under a password with \(identifier.displayName)")
        }
        try self.init(ContentEncryption(AlgorithmIdentifier(berEncoded: ASN1Node.read(parameters))))
    }

    /// The AlgorithmIdentifier for a RecipientInfo.
    var identifier: AlgorithmIdentifier {
        get throws { AlgorithmIdentifier(Self.oid, parameters: try encryption.identifier.encoded()) }
    }

    private var block: Int { encryption.iv.count }

    /// Wraps `key` with `wrappingKey`. The wrapped bytes are the key's length, three check bytes, the key, and random
    /// padding.
    func wrap(_ key: SecretBytes, under wrappingKey: SecretBytes) throws -> [UInt8] {
        let count = max(2 * block, (key.count + 4 + block - 1) / block * block)
        let padding = try randomBytes(count: count - 4 - key.count)
        let formatted = key.withBytes { key in
            SecretBytes(count: count) { buffer in
                buffer[0] = UInt8(key.count)
                for index in 0..<3 { buffer[1 + index] = ~key[index] }
                buffer.copy(key, at: 4)
                buffer.copy(padding.octets, at: 4 + key.count)
            }
        }
        let once = try transform(formatted, under: wrappingKey, iv: encryption.iv, isEncrypting: true)
        let iv = once.withBytes { Array($0.extracting(last: block)) }
        return try transform(once, under: wrappingKey, iv: iv, isEncrypting: true).copied()
    }

    /// Unwraps a key; nil if it was not wrapped with `wrappingKey`.
    func unwrap(_ wrapped: [UInt8], under wrappingKey: SecretBytes) throws -> SecretBytes? {
        guard wrapped.count >= 2 * block, wrapped.count.isMultiple(of: block), wrapped.count <= 1024 else { return nil }
        // The initialization vector of the outer pass is the last block of the inner pass, which can be recovered from the
        // last two blocks.
        let beforeLast = Array(wrapped.dropLast(block).suffix(block))
        let last = try transform(
            Self.secret(wrapped.suffix(block)),
            under: wrappingKey,
            iv: beforeLast,
            isEncrypting: false
        )
        let iv = last.copied()
        let once = try transform(Self.secret(wrapped[...]), under: wrappingKey, iv: iv, isEncrypting: false)
        let formatted = try transform(once, under: wrappingKey, iv: encryption.iv, isEncrypting: false)
        return formatted.withBytes { bytes in
            let count = Int(bytes[0])
            guard count >= 3, count <= bytes.count - 4, (0..<3).allSatisfy({ bytes[1 + $0] == ~bytes[4 + $0] }) else {
                return nil
            }
            return SecretBytes(copying: bytes.extracting(4..<4 + count))
        }
    }

    private static func secret(_ bytes: ArraySlice<UInt8>) -> SecretBytes {
        SecretBytes(copying: bytes)
    }

    private func transform(
        _ input: SecretBytes,
        under key: SecretBytes,
        iv: [UInt8],
        isEncrypting: Bool
    ) throws -> SecretBytes {
        let context = try key.withBytes { key throws(OpenSSLError) in
            try CipherContext(cipher.libcryptoName, key: key, iv: iv, isEncrypting: isEncrypting, pads: false)
        }
        let padded = try SecretBytes(count: input.count + 2 * block) { buffer in
            _ = try input.withBytes { try context.update($0, into: &buffer) }
        }
        return padded.withBytes { SecretBytes(copying: $0.extracting(first: input.count)) }
    }
}
