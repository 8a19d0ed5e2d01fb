import LibCrypto

extension DistinguishedName {
    /// 32 bytes that are equal for names that match; used as a key of indexes.
    package var matchingKey: [UInt8] {
        get throws(CMSError) {
            try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(canonical.bytes) }
        }
    }
}
