import COpenSSL

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
