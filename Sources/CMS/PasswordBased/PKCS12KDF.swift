import COpenSSL

/// The key derivation of PKCS#12's own schemes.
///
/// RFC 7292 appendix B.2
enum PKCS12KDF {
    /// What the derived bytes are for.
    enum Purpose: CInt {
        case key = 1
        case iv = 2
        case mac = 3
    }

    /// `count` bytes derived from a passphrase in BMP form.
    ///
    /// libcrypto: `PKCS12_key_gen_uni_ex`
    ///
    /// - Parameter digest: its name in libcrypto.
    static func derive(
        _ passphrase: SecretBytes,
        _ digest: String,
        _ salt: [UInt8],
        _ iterations: Int,
        id: Purpose,
        count: Int
    ) throws(OpenSSLError) -> SecretBytes {
        Libcrypto.start()
        let digest = try Owned<EVP_MD>(EVP_MD_fetch(nil, digest, nil), "EVP_MD_fetch")
        var salt = salt
        return try SecretBytes(count: count) { output throws(OpenSSLError) in
            let result = digest.withPointer { digest in
                passphrase.withBytes { passphrase in
                    // Declared without const, but only read.
                    PKCS12_key_gen_uni_ex(
                        UnsafeMutablePointer(mutating: passphrase.bindMemory(to: UInt8.self).baseAddress),
                        CInt(passphrase.count),
                        &salt,
                        CInt(salt.count),
                        id.rawValue,
                        CInt(clamping: iterations),
                        CInt(count),
                        output.bindMemory(to: UInt8.self).baseAddress,
                        digest,
                        nil,
                        nil
                    )
                }
            }
            try check(result, "PKCS12_key_gen_uni_ex")
        }
    }
}
