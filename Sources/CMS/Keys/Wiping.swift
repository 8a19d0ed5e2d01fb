import COpenSSL

extension [UInt8] {
    /// Overwrites the bytes, provided that no other array shares them.
    ///
    /// libcrypto: `OPENSSL_cleanse`
    package mutating func wipe() {
        withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}
