import COpenSSL

/// Functions that derive keys from passwords.
package enum PasswordDerivation {
    /// PBKDF1 with an output of sixteen bytes: eight for the key and eight for the initialization vector (RFC 8018 §5.1).
    ///
    /// libcrypto: `EVP_BytesToKey`, which equals PBKDF1 if one digest value is long enough.
    package static func pbkdf1(
        _ password: SecretBytes,
        _ digest: DigestAlgorithm,
        salt: [UInt8],
        iterations: Int
    ) throws(OpenSSLError) -> (key: SecretBytes, iv: [UInt8]) {
        let library = try Libcrypto.legacy()
        let method = try Owned<EVP_CIPHER>(EVP_CIPHER_fetch(library, "DES-CBC", nil), "EVP_CIPHER_fetch")
        let hash = try Owned<EVP_MD>(EVP_MD_fetch(nil, digest.libcryptoName, nil), "EVP_MD_fetch")
        var iv = [UInt8](repeating: 0, count: 8)
        let key = try SecretBytes(filling: 8) { key throws(OpenSSLError) in
            let count = withPointers(method, hash) { method, hash in
                password.withUnsafeBytes { password in
                    EVP_BytesToKey(
                        method,
                        hash,
                        salt,
                        password.bindMemory(to: UInt8.self).baseAddress,
                        CInt(password.count),
                        CInt(clamping: iterations),
                        key.bindMemory(to: UInt8.self).baseAddress,
                        &iv
                    )
                }
            }
            try check(count, "EVP_BytesToKey")
        }
        return (key, iv)
    }

    /// PBKDF2 with HMAC (RFC 8018 §5.2).
    ///
    /// libcrypto: `PKCS5_PBKDF2_HMAC`
    ///
    /// - Parameter digest: libcrypto's name of the digest.
    package static func pbkdf2(
        _ password: SecretBytes,
        _ digest: String,
        salt: [UInt8],
        iterations: Int,
        count: Int
    ) throws(OpenSSLError) -> SecretBytes {
        Libcrypto.start()
        let method = try Owned<EVP_MD>(EVP_MD_fetch(nil, digest, nil), "EVP_MD_fetch")
        return try derived(from: password, count: count, "PKCS5_PBKDF2_HMAC") { password, key in
            method.withPointer { method in
                PKCS5_PBKDF2_HMAC(
                    password.bindMemory(to: CChar.self).baseAddress,
                    CInt(password.count),
                    salt,
                    CInt(salt.count),
                    CInt(clamping: iterations),
                    method,
                    CInt(count),
                    key
                )
            }
        }
    }

    /// The key derivation of PKCS#12's own schemes (RFC 7292 appendix B.2).
    ///
    /// libcrypto: `PKCS12_key_gen_uni_ex`
    ///
    /// - Parameters:
    ///   - password: the password as a BMPString.
    ///   - digest: libcrypto's name of the digest.
    ///   - purpose: the ID byte, which distinguishes encryption keys, initialization vectors and MAC keys.
    package static func pkcs12(
        _ password: SecretBytes,
        _ digest: String,
        salt: [UInt8],
        iterations: Int,
        purpose: Int,
        count: Int
    ) throws(OpenSSLError) -> SecretBytes {
        Libcrypto.start()
        let method = try Owned<EVP_MD>(EVP_MD_fetch(nil, digest, nil), "EVP_MD_fetch")
        var salt = salt
        return try derived(from: password, count: count, "PKCS12_key_gen_uni_ex") { password, key in
            method.withPointer { method in
                // The C function declares its argument without const, but only reads the bytes.
                PKCS12_key_gen_uni_ex(
                    UnsafeMutablePointer(mutating: password.bindMemory(to: UInt8.self).baseAddress),
                    CInt(password.count),
                    &salt,
                    CInt(salt.count),
                    CInt(clamping: purpose),
                    CInt(clamping: iterations),
                    CInt(count),
                    key,
                    method,
                    nil,
                    nil
                )
            }
        }
    }

    /// scrypt with at most 64 MiB of memory (RFC 7914 §6).
    ///
    /// libcrypto: `EVP_PBE_scrypt`
    package static func scrypt(
        _ password: SecretBytes,
        salt: [UInt8],
        cost: Int,
        blockSize: Int,
        parallelization: Int,
        count: Int
    ) throws(OpenSSLError) -> SecretBytes {
        Libcrypto.start()
        return try derived(from: password, count: count, "EVP_PBE_scrypt") { password, key in
            EVP_PBE_scrypt(
                password.bindMemory(to: CChar.self).baseAddress,
                password.count,
                salt,
                salt.count,
                UInt64(cost),
                UInt64(blockSize),
                UInt64(parallelization),
                64 << 20,
                key,
                count
            )
        }
    }

    private static func derived(
        from password: SecretBytes,
        count: Int,
        _ operation: StaticString,
        _ body: (UnsafeRawBufferPointer, UnsafeMutablePointer<UInt8>?) -> CInt
    ) throws(OpenSSLError) -> SecretBytes {
        try SecretBytes(filling: count) { output throws(OpenSSLError) in
            let result = password.withUnsafeBytes { body($0, output.bindMemory(to: UInt8.self).baseAddress) }
            try check(result, operation)
        }
    }
}
