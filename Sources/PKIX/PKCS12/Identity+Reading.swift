import LibCrypto

extension Identity {
    /// The identity in a PKCS#12 file that signs mail, or else its first one.
    ///
    /// `PKCS12` has all of them, and takes a `Passphrase`, which is wiped.
    ///
    /// - Throws: what `PKCS12` throws.
    package init(pkcs12 bytes: some Sequence<UInt8>, passphrase: String) throws(CMSError) {
        let file = try PKCS12(Array(bytes), passphrase: Passphrase(passphrase.utf8))
        guard let first = file.identities.first(where: \.certificate.canSign) ?? file.identities.first else {
            throw .noKeyPair
        }
        self = first
    }
}
