import COpenSSL

/// Message authentication codes.
package enum MessageAuthentication {
    /// HMAC (RFC 2104) over `bytes`.
    ///
    /// libcrypto: `EVP_Q_mac`
    ///
    /// - Parameter digest: libcrypto's name of the digest.
    package static func hmac(_ bytes: [UInt8], key: SecretBytes, digest: String) throws(OpenSSLError) -> [UInt8] {
        Libcrypto.start()
        return try key.withUnsafeBytes { key throws(OpenSSLError) in
            var value = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count = 0
            let result = EVP_Q_mac(
                nil,
                "HMAC",
                nil,
                digest,
                nil,
                key.baseAddress,
                key.count,
                bytes,
                bytes.count,
                &value,
                value.count,
                &count
            )
            guard result != nil else { throw OpenSSLError("EVP_Q_mac") }
            return Array(value.prefix(count))
        }
    }

    /// Whether two codes are equal. The time taken does not depend on where the codes differ.
    ///
    /// libcrypto: `CRYPTO_memcmp`
    package static func areEqual(_ one: [UInt8], and other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
