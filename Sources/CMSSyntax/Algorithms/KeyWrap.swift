import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

/// An algorithm for wrapping a key with another key.
///
/// RFC 3394, RFC 3565 §2.3.2; Triple-DES (RFC 3217) only for old mail.
struct KeyWrap: Sendable {
    /// The algorithm and its parameters as in the message. They are an input of the key derivation.
    let identifier: AlgorithmIdentifier
    private let row: Row

    private struct Row: Sendable {
        let oid: ASN1ObjectIdentifier
        let libcryptoName: String
        let keyCount: Int
        /// The initial value of RFC 3394 §2.2.3.1; empty for Triple-DES.
        let initialValue: [UInt8]
        var isHistoric: Bool { initialValue.isEmpty }

        init(_ oid: ASN1ObjectIdentifier, _ libcryptoName: String, keyCount: Int, isHistoric: Bool = false) {
            self.oid = oid
            self.libcryptoName = libcryptoName
            self.keyCount = keyCount
            initialValue = isHistoric ? [] : [UInt8](repeating: 0xA6, count: 8)
        }
    }

    private static let rows = [
        Row([2, 16, 840, 1, 101, 3, 4, 1, 5], "AES-128-WRAP", keyCount: 16),
        Row([2, 16, 840, 1, 101, 3, 4, 1, 25], "AES-192-WRAP", keyCount: 24),
        Row([2, 16, 840, 1, 101, 3, 4, 1, 45], "AES-256-WRAP", keyCount: 32),
        Row([1, 2, 840, 113549, 1, 9, 16, 3, 6], "DES3-WRAP", keyCount: 24, isHistoric: true),
    ]

    /// The length of the key-encryption key in bytes.
    var keyCount: Int { row.keyCount }

    /// The key wrap that `identifier` names.
    ///
    /// - Throws: `CMSError.unsupported`; `CMSError.malformed` for parameters other than NULL.
    init(_ identifier: AlgorithmIdentifier) throws {
        guard let row = Self.rows.first(where: { $0.oid == identifier.algorithm }) else {
            throw CMSError.unsupported("key wrap \(identifier.displayName)")
        }
        guard identifier.parameters == nil || identifier.parameters == AlgorithmIdentifier.null else {
            throw CMSError.malformed(.cms, "key wrap parameters")
        }
        self.identifier = identifier
        self.row = row
    }

    /// The AES wrap with a key-encryption key of `keyCount` bytes.
    init(keyCount: Int) throws {
        guard let row = Self.rows.first(where: { $0.keyCount == keyCount && !$0.isHistoric }) else {
            throw CMSError.unsupported("key wrap for \(keyCount * 8) bits")
        }
        try self.init(AlgorithmIdentifier(row.oid))
    }

    /// Wraps `key` with `wrappingKey`.
    func wrap(_ key: SecretBytes, under wrappingKey: SecretBytes) throws(OpenSSLError) -> [UInt8] {
        try wrappingKey.withBytes { wrappingKey throws(OpenSSLError) in
            try key.withBytes { key throws(OpenSSLError) in
                let context = try CipherContext(
                    row.libcryptoName,
                    key: wrappingKey,
                    iv: row.initialValue,
                    isEncrypting: true
                )
                let output = try SecretBytes(count: key.count + 16) { buffer throws(OpenSSLError) in
                    _ = try context.update(key, into: &buffer)
                }
                return output.withBytes { Array($0.extracting(first: key.count + 8)) }
            }
        }
    }

    /// Unwraps a key; throws an error if it was not wrapped with `wrappingKey`.
    func unwrap(_ wrapped: [UInt8], under wrappingKey: SecretBytes) throws(OpenSSLError) -> SecretBytes {
        try wrappingKey.withBytes { wrappingKey throws(OpenSSLError) in
            let context = try CipherContext(
                row.libcryptoName,
                key: wrappingKey,
                iv: row.initialValue,
                isEncrypting: false
            )
            var count = 0
            let output = try SecretBytes(count: wrapped.count + 16) { buffer throws(OpenSSLError) in
                count = try context.update(wrapped.octets, into: &buffer)
            }
            return output.withBytes { SecretBytes(copying: $0.extracting(first: count)) }
        }
    }
}

/// Wraps a key with a key derived from a password. CBC is applied twice, so every byte depends on all others.
///
/// id-alg-PWRI-KEK of RFC 3211 §2.3
struct PasswordKeyWrap: Sendable {
    let cipher: ContentCipher
    private let encryption: ContentEncryption

    static let oid: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 3, 9]

    /// - Throws: `CMSError.unsupported` for a cipher other than AES or Triple-DES in CBC mode.
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

    /// Wraps `key` with `wrappingKey`. What is encrypted is the key's length, three check bytes, the key, and random padding.
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

    /// Unwraps a key; nil if the length or the check bytes show that it was not wrapped with `wrappingKey`.
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
