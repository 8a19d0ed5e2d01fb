import LibCrypto

extension PrivateKey {
    /// Encrypts the PKCS#8 encoding under `key`; `context`, usually the certificate's fingerprint, is authenticated as well.
    package func sealed(under key: SealingKey, authenticating context: [UInt8]) throws(CMSError) -> [UInt8] {
        try writing(.privateKey) { try withPKCS8 { try key.seal($0, authenticating: context) } }
    }

    /// Decrypts the result of `sealed`.
    ///
    /// - Throws: `CMSError.decryptionFailed` if key, context or bytes differ.
    package init(sealed: [UInt8], under key: SealingKey, authenticating context: [UInt8]) throws(CMSError) {
        let secret = try key.open(sealed, authenticating: context)
        var pkcs8 = secret.copied()
        defer { pkcs8.wipe() }
        try self.init(pkcs8: pkcs8)
    }
}
