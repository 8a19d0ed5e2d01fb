import COpenSSL

/// The padding of an RSA signature.
package enum SignaturePadding: Sendable {
    /// No padding, for keys other than RSA.
    case none
    /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
    case pkcs1
    /// RSASSA-PSS (RFC 8017 §8.1).
    case pss(saltLength: Int, mgf: DigestAlgorithm)
}

/// Signing, verifying and generating keys.
extension Handle<EVP_PKEY> {
    /// A context for one operation with this key.
    func context() throws(OpenSSLError) -> Owned<EVP_PKEY_CTX> {
        try owned.withPointer { key throws(OpenSSLError) in
            try Owned(EVP_PKEY_CTX_new_from_pkey(nil, key, nil), "EVP_PKEY_CTX_new_from_pkey")
        }
    }

    /// Signs a digest value.
    ///
    /// libcrypto: `EVP_PKEY_sign`
    package func sign(_ value: [UInt8], digest: DigestAlgorithm, padding: SignaturePadding) throws(OpenSSLError)
        -> [UInt8]
    {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.sign, since: start) }
        defer { smime_wipe_stack() }
        return try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_sign_init(context), "EVP_PKEY_sign_init")
            try configure(context, digest: digest, padding: padding)
            var count = 0
            try check(EVP_PKEY_sign(context, nil, &count, value, value.count), "EVP_PKEY_sign")
            var signature = [UInt8](repeating: 0, count: count)
            try check(EVP_PKEY_sign(context, &signature, &count, value, value.count), "EVP_PKEY_sign")
            return Array(signature.prefix(count))
        }
    }

    /// Signs a message with a scheme that does its own hashing.
    ///
    /// libcrypto: `EVP_DigestSign`
    package func sign(message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.sign, since: start) }
        defer { smime_wipe_stack() }
        let context = try Owned<EVP_MD_CTX>(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        return try withPointers(context, owned) { context, key throws(OpenSSLError) in
            try check(EVP_DigestSignInit_ex(context, nil, nil, nil, nil, key, nil), "EVP_DigestSignInit_ex")
            var count = 0
            try check(EVP_DigestSign(context, nil, &count, message, message.count), "EVP_DigestSign")
            var signature = [UInt8](repeating: 0, count: count)
            try check(EVP_DigestSign(context, &signature, &count, message, message.count), "EVP_DigestSign")
            return Array(signature.prefix(count))
        }
    }

    /// Whether `signature` is valid over `message`, for a scheme that does its own hashing.
    ///
    /// libcrypto: `EVP_DigestVerify`
    package func verify(_ signature: [UInt8], message: [UInt8]) -> Bool {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        defer { ERR_clear_error() }
        guard let context = Owned<EVP_MD_CTX>(adopting: EVP_MD_CTX_new()) else { return false }
        return withPointers(context, owned) { context, key in
            EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    /// Whether `signature` is valid over the digest value; also false if the key does not support the operation.
    ///
    /// libcrypto: `EVP_PKEY_verify`
    package func verify(
        _ signature: [UInt8],
        of value: [UInt8],
        digest: DigestAlgorithm,
        padding: SignaturePadding
    ) -> Bool {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.verify, since: start) }
        defer { ERR_clear_error() }
        let result = try? context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_verify_init(context), "EVP_PKEY_verify_init")
            try configure(context, digest: digest, padding: padding)
            return EVP_PKEY_verify(context, signature, signature.count, value, value.count)
        }
        return result == 1
    }

    /// Whether the private and the public key of an elliptic-curve or DSA key belong together.
    ///
    /// libcrypto: `EVP_PKEY_pairwise_check`
    package func isPair() -> Bool {
        defer { ERR_clear_error() }
        return (try? context().withPointer { EVP_PKEY_pairwise_check($0) == 1 }) ?? false
    }

    private func configure(
        _ context: OpaquePointer,
        digest: DigestAlgorithm,
        padding: SignaturePadding
    ) throws(OpenSSLError) {
        try digest.withPointer { digest throws(OpenSSLError) in
            try check(EVP_PKEY_CTX_set_signature_md(context, digest), "EVP_PKEY_CTX_set_signature_md")
        }
        switch padding {
        case .none: break
        case .pkcs1:
            try check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
        case .pss(let saltLength, let mgf):
            try check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
            let salt = CInt(saltLength)
            try check(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, salt), "EVP_PKEY_CTX_set_rsa_pss_saltlen")
            try mgf.withPointer { mgf throws(OpenSSLError) in
                try check(EVP_PKEY_CTX_set_rsa_mgf1_md(context, mgf), "EVP_PKEY_CTX_set_rsa_mgf1_md")
            }
        }
    }

    /// A new key of the same kind and with the same parameters, for key agreement with this key.
    ///
    /// libcrypto: `EVP_PKEY_keygen_init`, `EVP_PKEY_generate`
    package func generateEphemeralKey() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.encrypt, since: start) }
        let key = try context().withPointer { context throws(OpenSSLError) -> Owned<EVP_PKEY> in
            try check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
            return try generatedKey(context)
        }
        return Handle(key)
    }

    /// The public key as an encoded point or as raw bytes.
    ///
    /// libcrypto: `EVP_PKEY_get1_encoded_public_key`
    package func encodedPublicKey() throws(OpenSSLError) -> [UInt8] {
        try owned.withPointer { key throws(OpenSSLError) in
            var encoded: UnsafeMutablePointer<UInt8>?
            let count = EVP_PKEY_get1_encoded_public_key(key, &encoded)
            defer { smime_OPENSSL_free(encoded) }
            guard count > 0, let encoded else { throw OpenSSLError("EVP_PKEY_get1_encoded_public_key") }
            return Array(UnsafeBufferPointer(start: encoded, count: count))
        }
    }
}

/// Generates a key with the parameters of `context`.
///
/// libcrypto: `EVP_PKEY_generate`
func generatedKey(_ context: OpaquePointer) throws(OpenSSLError) -> Owned<EVP_PKEY> {
    var key: OpaquePointer?
    let result = EVP_PKEY_generate(context, &key)
    let owned = try Owned<EVP_PKEY>(key, "EVP_PKEY_generate")
    try check(result, "EVP_PKEY_generate")
    return owned
}

extension Handle<EVP_PKEY> {
    /// The kinds of keys that can be generated.
    package enum FreshKind {
        /// A key on the curve P-256.
        case p256
        case rsa(bits: Int)
        case x25519
    }

    /// Generates a key.
    ///
    /// libcrypto: `EVP_PKEY_keygen_init`, `EVP_PKEY_generate`
    package convenience init(generating kind: FreshKind) throws(OpenSSLError) {
        Libcrypto.start()
        let name =
            switch kind {
            case .p256: "EC"
            case .rsa: "RSA"
            case .x25519: "X25519"
            }
        let context = try Owned<EVP_PKEY_CTX>(
            EVP_PKEY_CTX_new_from_name(nil, name, nil),
            "EVP_PKEY_CTX_new_from_name"
        )
        let key = try context.withPointer { context throws(OpenSSLError) -> Owned<EVP_PKEY> in
            try check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
            switch kind {
            case .p256: try check(EVP_PKEY_CTX_set_group_name(context, "P-256"), "EVP_PKEY_CTX_set_group_name")
            case .rsa(let bits):
                let result = EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(clamping: bits))
                try check(result, "EVP_PKEY_CTX_set_rsa_keygen_bits")
            case .x25519: break
            }
            return try generatedKey(context)
        }
        self.init(key)
    }
}
