package import LibCrypto

extension PKCS12 {
    /// Whether gpgsm 2.2 would derive a wrong key for triple DES with SHA-1, and so could not read the file. One combination
    /// of salt and passphrase in about 60 is affected.
    ///
    /// - Throws: `CMSError.openSSL`
    package static func isMisreadByGpgsm(
        _ passphrase: borrowing Passphrase,
        salt: [UInt8],
        iterations: Int
    ) throws(CMSError) -> Bool {
        let form = PassphraseForm(writing: passphrase)
        return try lift { () throws(OpenSSLError) in
            try PKCS12KDF.isMisreadByGpgsm(form.bmp, salt, iterations: iterations)
        }
    }
}
