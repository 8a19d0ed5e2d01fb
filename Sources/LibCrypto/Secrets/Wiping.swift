import COpenSSL

extension [UInt8] {
    /// Overwrites the bytes, provided that no other array shares them.
    ///
    /// libcrypto: `OPENSSL_cleanse`
    package mutating func wipe() {
        withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

/// Data that earlier calls left in memory.
package enum Leftovers {
    /// Overwrites the stack that calls before this one used, and the vector registers.
    package static func wipe() { smime_wipe_stack() }
}
