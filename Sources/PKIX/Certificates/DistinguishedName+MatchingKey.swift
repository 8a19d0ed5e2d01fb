import LibCrypto

extension DistinguishedName {
    /// A key of 32 bytes for indexes. The keys of matching names are equal.
    package var matchingKey: [UInt8] {
        get throws(CMSError) {
            try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(canonical.bytes) }
        }
    }
}
