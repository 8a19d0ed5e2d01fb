import SwiftASN1

/// AES key wrap: one row for each key length.
///
/// RFC 3394, RFC 3565 §2.3.2
struct KeyWrap: Sendable {
    /// The algorithm with the parameters as the message has them; they are an input of the key derivation.
    let identifier: AlgorithmIdentifier
    /// The length of the key-encryption key in bytes.
    let keyCount: Int

    private static let rows: [(oid: ASN1ObjectIdentifier, keyCount: Int)] = [
        ([2, 16, 840, 1, 101, 3, 4, 1, 5], 16),
        ([2, 16, 840, 1, 101, 3, 4, 1, 25], 24),
        ([2, 16, 840, 1, 101, 3, 4, 1, 45], 32),
    ]

    /// The wrap that `identifier` names.
    ///
    /// - Throws: `CMSError.unsupported`; `CMSError.malformed` for parameters, which must be absent or NULL.
    init(_ identifier: AlgorithmIdentifier) throws {
        guard let row = Self.rows.first(where: { $0.oid == identifier.algorithm }) else {
            throw CMSError.unsupported("key wrap \(identifier.algorithm)")
        }
        guard identifier.parameters == nil || identifier.parameters == AlgorithmIdentifier.null else {
            throw CMSError.malformed(.cms, "key wrap parameters")
        }
        self.identifier = identifier
        keyCount = row.keyCount
    }

    /// The wrap whose key is as long as the content-encryption key (RFC 8551 §2.3).
    init(keyCount: Int) throws {
        guard let row = Self.rows.first(where: { $0.keyCount == keyCount }) else {
            throw CMSError.unsupported("key wrap for \(keyCount * 8) bits")
        }
        try self.init(AlgorithmIdentifier(row.oid))
    }

    private var libcryptoName: String { "AES-\(keyCount * 8)-WRAP" }
    private static let initialValue = [UInt8](repeating: 0xA6, count: 8)

    /// `key` wrapped under `wrappingKey`.
    func wrap(_ key: SecretBytes, under wrappingKey: SecretBytes) throws(OpenSSLError) -> [UInt8] {
        try wrappingKey.withBytes { wrappingKey throws(OpenSSLError) in
            try key.withBytes { key throws(OpenSSLError) in
                let context = try CipherContext(
                    libcryptoName,
                    key: wrappingKey,
                    iv: Self.initialValue,
                    isEncrypting: true
                )
                let output = try SecretBytes(count: key.count + 16) { buffer throws(OpenSSLError) in
                    _ = try context.update(key, into: buffer)
                }
                return output.withBytes { Array($0.prefix(key.count + 8)) }
            }
        }
    }

    /// The key that `wrapped` holds; throws if it was not wrapped under `wrappingKey`.
    func unwrap(_ wrapped: [UInt8], under wrappingKey: SecretBytes) throws(OpenSSLError) -> SecretBytes {
        try wrappingKey.withBytes { wrappingKey throws(OpenSSLError) in
            let context = try CipherContext(libcryptoName, key: wrappingKey, iv: Self.initialValue, isEncrypting: false)
            var count = 0
            let output = try SecretBytes(count: wrapped.count + 16) { buffer throws(OpenSSLError) in
                var failure: OpenSSLError?
                wrapped.withUnsafeBytes { wrapped in
                    do throws(OpenSSLError) { count = try context.update(wrapped, into: buffer) } catch {
                        failure = error
                    }
                }
                if let failure { throw failure }
            }
            return output.withBytes { all in
                SecretBytes(count: count) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: all.prefix(count))) }
            }
        }
    }
}
