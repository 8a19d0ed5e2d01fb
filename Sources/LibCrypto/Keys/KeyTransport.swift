import COpenSSL

/// Key transport, key agreement and key encapsulation.
extension Handle<EVP_PKEY> {
    /// Encrypts `value` with this RSA key.
    ///
    /// libcrypto: `EVP_PKEY_encrypt`
    package func encrypt(_ value: Span<UInt8>, padding: RSAPadding) throws(OpenSSLError) -> [UInt8] {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.encrypt, since: start) }
        return try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_encrypt_init(context), "EVP_PKEY_encrypt_init")
            try padding.configure(context)
            var count = 0
            let size = value.withUnsafeBufferPointer {
                EVP_PKEY_encrypt(context, nil, &count, $0.baseAddress, $0.count)
            }
            try check(size, "EVP_PKEY_encrypt")
            var output = [UInt8](repeating: 0, count: count)
            let result = value.withUnsafeBufferPointer {
                EVP_PKEY_encrypt(context, &output, &count, $0.baseAddress, $0.count)
            }
            try check(result, "EVP_PKEY_encrypt")
            return Array(output.prefix(count))
        }
    }

    /// Decrypts `value` into `output`.
    ///
    /// The caller must not learn why a decryption failed (RFC 3218), so this function throws no error and leaves the error
    /// queue empty.
    ///
    /// libcrypto: `EVP_PKEY_decrypt`
    ///
    /// - Returns: 1 and the length of the plaintext, or another number on failure.
    package func decrypt(_ value: [UInt8], padding: RSAPadding, into output: inout [UInt8]) -> (
        result: CInt, count: Int
    ) {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.decrypt, since: start) }
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

    /// The shared secret of this private key and the public key `point`, which is an encoded point or raw bytes, depending on
    /// the kind of key.
    ///
    /// libcrypto: `EVP_PKEY_set1_encoded_public_key`, which rejects points that are not on the curve; `EVP_PKEY_derive`, which
    /// rejects X25519 secrets that are all zeros.
    package func agree(withEncodedPoint point: [UInt8]) throws(OpenSSLError) -> SecretBytes {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.decrypt, since: start) }
        // Keys of RFC 7748 have neither parameters nor points.
        if owned.withPointer({ EVP_PKEY_is_a($0, "X25519") == 1 }) {
            let peer = EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, point, point.count)
            return try derive(with: Owned<EVP_PKEY>(peer, "EVP_PKEY_new_raw_public_key_ex"))
        }
        let peer = try Owned<EVP_PKEY>(EVP_PKEY_new(), "EVP_PKEY_new")
        try withPointers(peer, owned) { peer, key throws(OpenSSLError) in
            try check(EVP_PKEY_copy_parameters(peer, key), "EVP_PKEY_copy_parameters")
            try check(EVP_PKEY_set1_encoded_public_key(peer, point, point.count), "EVP_PKEY_set1_encoded_public_key")
        }
        return try derive(with: peer)
    }

    /// The shared secret of this new private key and the recipient's key `peer`.
    package func agree(with peer: borrowing Owned<EVP_PKEY>) throws(OpenSSLError) -> SecretBytes {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.encrypt, since: start) }
        return try derive(with: peer)
    }

    private func derive(with peer: borrowing Owned<EVP_PKEY>) throws(OpenSSLError) -> SecretBytes {
        defer { smime_wipe_stack() }
        return try withPointers(context(), peer) { context, peer throws(OpenSSLError) in
            try check(EVP_PKEY_derive_init(context), "EVP_PKEY_derive_init")
            try check(EVP_PKEY_derive_set_peer(context, peer), "EVP_PKEY_derive_set_peer")
            var count = 0
            try check(EVP_PKEY_derive(context, nil, &count), "EVP_PKEY_derive")
            return try SecretBytes(filling: count) { buffer throws(OpenSSLError) in
                let target = buffer.bindMemory(to: UInt8.self).baseAddress
                try check(EVP_PKEY_derive(context, target, &count), "EVP_PKEY_derive")
            }
        }
    }

    /// Generates a secret, and the ciphertext that transports this secret to the owner of this key.
    ///
    /// libcrypto: `EVP_PKEY_encapsulate`
    package func encapsulate() throws(OpenSSLError) -> (ciphertext: [UInt8], secret: SecretBytes) {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.encrypt, since: start) }
        return try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_encapsulate_init(context, nil), "EVP_PKEY_encapsulate_init")
            var (count, secretCount) = (0, 0)
            try check(EVP_PKEY_encapsulate(context, nil, &count, nil, &secretCount), "EVP_PKEY_encapsulate")
            var ciphertext = [UInt8](repeating: 0, count: count)
            let secret = try SecretBytes(filling: secretCount) { buffer throws(OpenSSLError) in
                let target = buffer.bindMemory(to: UInt8.self).baseAddress
                let result = EVP_PKEY_encapsulate(context, &ciphertext, &count, target, &secretCount)
                try check(result, "EVP_PKEY_encapsulate")
            }
            return (ciphertext, secret)
        }
    }

    /// Recovers the secret in `ciphertext` with this private key.
    ///
    /// libcrypto: `EVP_PKEY_decapsulate`
    package func decapsulate(_ ciphertext: [UInt8]) throws(OpenSSLError) -> SecretBytes {
        let start = ContinuousClock.now
        defer { CryptoTime.count(.decrypt, since: start) }
        defer { smime_wipe_stack() }
        return try context().withPointer { context throws(OpenSSLError) in
            try check(EVP_PKEY_decapsulate_init(context, nil), "EVP_PKEY_decapsulate_init")
            var count = 0
            let result = EVP_PKEY_decapsulate(context, nil, &count, ciphertext, ciphertext.count)
            try check(result, "EVP_PKEY_decapsulate")
            return try SecretBytes(filling: count) { buffer throws(OpenSSLError) in
                let target = buffer.bindMemory(to: UInt8.self).baseAddress
                let result = EVP_PKEY_decapsulate(context, target, &count, ciphertext, ciphertext.count)
                try check(result, "EVP_PKEY_decapsulate")
            }
        }
    }
}

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
