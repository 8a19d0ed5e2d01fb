import COpenSSL

/// The algorithms that this libcrypto supports.
extension Libcrypto {
    /// Whether a cipher of this name can be fetched.
    ///
    /// libcrypto: `EVP_CIPHER_fetch`
    ///
    /// - Throws: the reason why the legacy provider is missing, if `isLegacy` is true.
    package static func offersCipher(_ name: String, isLegacy: Bool) throws(OpenSSLError) -> Bool {
        let library = isLegacy ? try legacy() : nil
        return has(EVP_CIPHER.self) { EVP_CIPHER_fetch(library, name, nil) }
    }

    /// Whether a signature scheme of this name can be fetched.
    ///
    /// libcrypto: `EVP_SIGNATURE_fetch`
    package static func offersSignature(_ name: String) -> Bool {
        has(EVP_SIGNATURE.self) { EVP_SIGNATURE_fetch(nil, name, nil) }
    }

    /// Whether a key-encapsulation mechanism of this name can be fetched.
    ///
    /// libcrypto: `EVP_KEM_fetch`
    package static func offersEncapsulation(_ name: String) -> Bool {
        has(EVP_KEM.self) { EVP_KEM_fetch(nil, name, nil) }
    }

    /// Whether a digest of this name can be fetched.
    ///
    /// libcrypto: `EVP_MD_fetch`
    package static func offersDigest(_ name: String) -> Bool { has(EVP_MD.self) { EVP_MD_fetch(nil, name, nil) } }

    /// Whether a key derivation function of this name can be fetched.
    ///
    /// libcrypto: `EVP_KDF_fetch`
    package static func offersDerivation(_ name: String) -> Bool { has(EVP_KDF.self) { EVP_KDF_fetch(nil, name, nil) } }

    /// Whether keys of the kind with this name are supported.
    ///
    /// libcrypto: `EVP_PKEY_CTX_new_from_name`
    package static func offersKeys(_ name: String) -> Bool {
        has(EVP_PKEY_CTX.self) { EVP_PKEY_CTX_new_from_name(nil, name, nil) }
    }

    /// Whether `fetch` returns an object.
    private static func has<Object: LibcryptoObject>(_: Object.Type, _ fetch: () -> OpaquePointer?) -> Bool {
        start()
        defer { ERR_clear_error() }
        return Owned<Object>(adopting: fetch()) != nil
    }

    /// The field size in bits of the curve with this dotted OID; nil if libcrypto does not support the curve.
    ///
    /// libcrypto: `OBJ_txt2nid`, `EC_GROUP_get_degree`
    package static func curveBits(oid: String) -> Int? {
        start()
        defer { ERR_clear_error() }
        let identifier = OBJ_txt2nid(oid)
        guard identifier != NID_undef, let group = EC_GROUP_new_by_curve_name(identifier) else { return nil }
        defer { EC_GROUP_free(group) }
        return Int(EC_GROUP_get_degree(group))
    }
}
