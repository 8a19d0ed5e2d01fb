import COpenSSL

/// What public-key cryptography CMS asks of libcrypto.
extension Handle<EVP_PKEY> {
    /// A context for one operation with this key.
    private func context() throws(OpenSSLError) -> Owned<EVP_PKEY_CTX> {
        try owned.withPointer { key throws(OpenSSLError) in
            try Owned(EVP_PKEY_CTX_new_from_pkey(nil, key, nil), "EVP_PKEY_CTX_new_from_pkey")
        }
    }

    /// The signature over a digest value.
    ///
    /// libcrypto: `EVP_PKEY_sign`
    func sign(_ value: [UInt8], digest: DigestAlgorithm, scheme: SignatureAlgorithm.Scheme) throws(OpenSSLError)
        -> [UInt8]
    {
        defer { smime_wipe_stack() }
        return try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_sign_init(context), "EVP_PKEY_sign_init")
            try configure(context, digest: digest, scheme: scheme)
            var count = 0
            try check(EVP_PKEY_sign(context, nil, &count, value, value.count), "EVP_PKEY_sign")
            var signature = [UInt8](repeating: 0, count: count)
            try check(EVP_PKEY_sign(context, &signature, &count, value, value.count), "EVP_PKEY_sign")
            return Array(signature.prefix(count))
        }
    }

    /// The signature of a scheme that hashes the message itself.
    ///
    /// libcrypto: `EVP_DigestSign`
    package func sign(message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
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

    /// Whether `signature`, of a scheme that hashes the message itself, is one over `message`.
    ///
    /// libcrypto: `EVP_DigestVerify`
    func verify(_ signature: [UInt8], message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let context = Owned<EVP_MD_CTX>(adopting: EVP_MD_CTX_new()) else { return false }
        return withPointers(context, owned) { context, key in
            EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1
                && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        }
    }

    /// Whether `signature` is one over the digest value; false also where the key cannot be used so.
    ///
    /// libcrypto: `EVP_PKEY_verify`
    func verify(
        _ signature: [UInt8],
        of value: [UInt8],
        digest: DigestAlgorithm,
        scheme: SignatureAlgorithm.Scheme
    ) -> Bool {
        defer { ERR_clear_error() }
        let result = try? context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_verify_init(context), "EVP_PKEY_verify_init")
            try configure(context, digest: digest, scheme: scheme)
            return EVP_PKEY_verify(context, signature, signature.count, value, value.count)
        }
        return result == 1
    }

    /// Whether the private half of an elliptic-curve or DSA key belongs to its public one.
    ///
    /// libcrypto: `EVP_PKEY_pairwise_check`
    func isPair() -> Bool {
        defer { ERR_clear_error() }
        return (try? context().withPointer { EVP_PKEY_pairwise_check($0) == 1 }) ?? false
    }

    private func configure(
        _ context: OpaquePointer,
        digest: DigestAlgorithm,
        scheme: SignatureAlgorithm.Scheme
    ) throws(OpenSSLError) {
        try digest.withPointer { digest throws(OpenSSLError) in
            try check(EVP_PKEY_CTX_set_signature_md(context, digest), "EVP_PKEY_CTX_set_signature_md")
        }
        switch scheme {
        case .dsa, .ecdsa, .ed25519, .lattice: break
        case .rsaPKCS1:
            try check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
        case .rsaPSS(let saltLength, let mgf):
            try check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
            let salt = CInt(saltLength)
            try check(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, salt), "EVP_PKEY_CTX_set_rsa_pss_saltlen")
            try mgf.withPointer { mgf throws(OpenSSLError) in
                try check(EVP_PKEY_CTX_set_rsa_mgf1_md(context, mgf), "EVP_PKEY_CTX_set_rsa_mgf1_md")
            }
        }
    }

    /// `value` encrypted to this RSA key.
    ///
    /// libcrypto: `EVP_PKEY_encrypt`
    func encrypt(_ value: UnsafeRawBufferPointer, padding: RSAPadding) throws(OpenSSLError) -> [UInt8] {
        try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_encrypt_init(context), "EVP_PKEY_encrypt_init")
            try padding.configure(context)
            let input = value.bindMemory(to: UInt8.self).baseAddress
            var count = 0
            try check(EVP_PKEY_encrypt(context, nil, &count, input, value.count), "EVP_PKEY_encrypt")
            var output = [UInt8](repeating: 0, count: count)
            try check(EVP_PKEY_encrypt(context, &output, &count, input, value.count), "EVP_PKEY_encrypt")
            return Array(output.prefix(count))
        }
    }

    /// Decrypts `value` into `output` and returns 1 and the length, or anything else on failure.
    ///
    /// No error is built and the queue is left empty: a caller must not learn why this failed (RFC 3218).
    /// libcrypto: `EVP_PKEY_decrypt`
    func decrypt(_ value: [UInt8], padding: RSAPadding, into output: inout [UInt8]) -> (result: CInt, count: Int) {
        defer {
            ERR_clear_error()
            smime_wipe_stack()
        }
        var count = output.count
        let result = try? context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_decrypt_init(context), "EVP_PKEY_decrypt_init")
            try padding.configure(context)
            return EVP_PKEY_decrypt(context, &output, &count, value, value.count)
        }
        return (result ?? 0, count)
    }

    /// The secret that this private key and the public point or octets `point` of the same kind agree on.
    ///
    /// libcrypto: `EVP_PKEY_derive`, which refuses points off the curve, and an X25519 secret that is all zeros.
    package func agree(withEncodedPoint point: [UInt8]) throws(OpenSSLError) -> SecretBytes {
        // RFC 7748 keys have neither parameters nor points.
        if owned.withPointer({ EVP_PKEY_is_a($0, "X25519") == 1 }) {
            let peer = EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, point, point.count)
            return try agree(with: Owned<EVP_PKEY>(peer, "EVP_PKEY_new_raw_public_key_ex"))
        }
        let peer = try Owned<EVP_PKEY>(EVP_PKEY_new(), "EVP_PKEY_new")
        try withPointers(peer, owned) { peer, key throws(OpenSSLError) in
            try check(EVP_PKEY_copy_parameters(peer, key), "EVP_PKEY_copy_parameters")
            try check(EVP_PKEY_set1_encoded_public_key(peer, point, point.count), "EVP_PKEY_set1_encoded_public_key")
        }
        return try agree(with: peer)
    }

    /// The secret that this private key and `peer` agree on.
    func agree(with peer: borrowing Owned<EVP_PKEY>) throws(OpenSSLError) -> SecretBytes {
        defer { smime_wipe_stack() }
        return try withPointers(context(), peer) { context, peer throws(OpenSSLError) in
            try check(EVP_PKEY_derive_init(context), "EVP_PKEY_derive_init")
            try check(EVP_PKEY_derive_set_peer(context, peer), "EVP_PKEY_derive_set_peer")
            var count = 0
            try check(EVP_PKEY_derive(context, nil, &count), "EVP_PKEY_derive")
            return try SecretBytes(count: count) { buffer throws(OpenSSLError) in
                let target = buffer.bindMemory(to: UInt8.self).baseAddress
                try check(EVP_PKEY_derive(context, target, &count), "EVP_PKEY_derive")
            }
        }
    }

    /// A fresh secret, and the ciphertext that tells it to the owner of this key.
    ///
    /// libcrypto: `EVP_PKEY_encapsulate`
    func encapsulate() throws(OpenSSLError) -> (ciphertext: [UInt8], secret: SecretBytes) {
        try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_encapsulate_init(context, nil), "EVP_PKEY_encapsulate_init")
            var (count, secretCount) = (0, 0)
            try check(EVP_PKEY_encapsulate(context, nil, &count, nil, &secretCount), "EVP_PKEY_encapsulate")
            var ciphertext = [UInt8](repeating: 0, count: count)
            let secret = try SecretBytes(count: secretCount) { buffer throws(OpenSSLError) in
                let target = buffer.bindMemory(to: UInt8.self).baseAddress
                let result = EVP_PKEY_encapsulate(context, &ciphertext, &count, target, &secretCount)
                try check(result, "EVP_PKEY_encapsulate")
            }
            return (ciphertext, secret)
        }
    }

    /// The secret that `ciphertext` tells the owner of this private key.
    ///
    /// libcrypto: `EVP_PKEY_decapsulate`
    func decapsulate(_ ciphertext: [UInt8]) throws(OpenSSLError) -> SecretBytes {
        defer { smime_wipe_stack() }
        return try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_decapsulate_init(context, nil), "EVP_PKEY_decapsulate_init")
            var count = 0
            let result = EVP_PKEY_decapsulate(context, nil, &count, ciphertext, ciphertext.count)
            try check(result, "EVP_PKEY_decapsulate")
            return try SecretBytes(count: count) { buffer throws(OpenSSLError) in
                let target = buffer.bindMemory(to: UInt8.self).baseAddress
                let result = EVP_PKEY_decapsulate(context, target, &count, ciphertext, ciphertext.count)
                try check(result, "EVP_PKEY_decapsulate")
            }
        }
    }

    /// A fresh key of the same kind and parameters.
    ///
    /// libcrypto: `EVP_PKEY_keygen_init`, `EVP_PKEY_generate`
    func generateSibling() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        let key = try context().withPointer { context throws(OpenSSLError) -> Owned<EVP_PKEY> in
            try check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
            return try generatedKey(context)
        }
        return Handle(key)
    }

    /// The public key as a point or octets.
    ///
    /// libcrypto: `EVP_PKEY_get1_encoded_public_key`
    func encodedPublicKey() throws(OpenSSLError) -> [UInt8] {
        try owned.withPointer { key throws(OpenSSLError) in
            var encoded: UnsafeMutablePointer<UInt8>?
            let count = EVP_PKEY_get1_encoded_public_key(key, &encoded)
            defer { smime_OPENSSL_free(encoded) }
            guard count > 0, let encoded else { throw OpenSSLError("EVP_PKEY_get1_encoded_public_key") }
            return Array(UnsafeBufferPointer(start: encoded, count: count))
        }
    }
}

/// A fresh key by what `context` was told.
///
/// libcrypto: `EVP_PKEY_generate`
func generatedKey(_ context: OpaquePointer) throws(OpenSSLError) -> Owned<EVP_PKEY> {
    var key: OpaquePointer?
    let result = EVP_PKEY_generate(context, &key)
    let owned = try Owned<EVP_PKEY>(key, "EVP_PKEY_generate")
    try check(result, "EVP_PKEY_generate")
    return owned
}
