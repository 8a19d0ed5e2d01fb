package import LibCrypto

extension PKCS12 {
    /// Whether gpgsm 2.2 derives a wrong key from these for triple DES with SHA-1, and so cannot read a file: about one in 60.
    ///
    /// - Throws: `CMSError.openSSL`
    package static func isMisreadByGpgsm(
        _ passphrase: borrowing Passphrase,
        salt: [UInt8],
        iterations: Int
    ) throws(CMSError) -> Bool {
        let form = PassphraseForm(writing: passphrase)
        return try lift { () throws(OpenSSLError) in try PKCS12KDF.isMisreadByGpgsm(form.bmp, salt, iterations) }
    }
}
