import COpenSSL

/// The padding with which an RSA key encrypts another key.
package enum RSAPadding: Sendable {
    /// RSAES-PKCS1-v1_5 (RFC 8017 §7.2).
    case pkcs1
    /// RSAES-OAEP (RFC 8017 §7.1).
    case oaep(digest: DigestAlgorithm, mgf: DigestAlgorithm, label: [UInt8])

    func configure(_ context: OpaquePointer) throws(OpenSSLError) {
        switch self {
        case .pkcs1:
            try check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
        case .oaep(let digest, let mgf, let label):
            try check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
            try digest.withPointer { digest throws(OpenSSLError) in
                try check(EVP_PKEY_CTX_set_rsa_oaep_md(context, digest), "EVP_PKEY_CTX_set_rsa_oaep_md")
            }
            try mgf.withPointer { mgf throws(OpenSSLError) in
                try check(EVP_PKEY_CTX_set_rsa_mgf1_md(context, mgf), "EVP_PKEY_CTX_set_rsa_mgf1_md")
            }
            guard !label.isEmpty else { return }
            // libcrypto takes ownership of the copy and frees it with OPENSSL_free.
            let copy = label.withUnsafeBytes { CRYPTO_memdup($0.baseAddress, $0.count, #file, #line) }
            let result = EVP_PKEY_CTX_set0_rsa_oaep_label(context, copy, CInt(label.count))
            if result <= 0 { smime_OPENSSL_free(copy) }
            try check(result, "EVP_PKEY_CTX_set0_rsa_oaep_label")
        }
    }
}

extension DigestAlgorithm {
    /// Lends libcrypto's `EVP_MD` of this digest to `body`.
    package func withPointer<Result>(_ body: (OpaquePointer) throws(OpenSSLError) -> Result) throws(OpenSSLError)
        -> Result
    {
        try fetched().owned.withPointer { digest throws(OpenSSLError) in try body(digest) }
    }
}
