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

    /// The AES wrap with a key of `keyCount` bytes, the length of the content-encryption key (RFC 8551 §2.3).
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
