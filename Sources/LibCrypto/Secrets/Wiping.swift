import COpenSSL

extension [UInt8] {
    /// Overwrites the bytes. Effective only if no other array shares their storage.
    ///
    /// libcrypto: `OPENSSL_cleanse`
    package mutating func wipe() {
        withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

/// Secrets that earlier calls left on the stack and in registers.
package enum Leftovers {
    /// Overwrites the stack below this call and the vector registers.
    package static func wipe() { smime_wipe_stack() }
}
