import COpenSSL

/// The libcrypto that this process uses.
package enum Libcrypto {
    /// libcrypto's version text, such as `OpenSSL 3.0.22 25 Aug 2026`.
    package static var version: String {
        start()
        return OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "unknown"
    }

    /// Identifies the libcrypto build. It contains the build date, because distributions fix bugs without changing the
    /// version.
    ///
    /// libcrypto: `OpenSSL_version`
    package static var build: String {
        [OPENSSL_VERSION, OPENSSL_BUILT_ON, OPENSSL_PLATFORM, OPENSSL_CFLAGS].map {
            String(cString: OpenSSL_version($0))
        }
        .joined(separator: "; ")
    }

    /// The version packed into one number.
    ///
    /// libcrypto: `OpenSSL_version_num`
    package static var packedVersion: Int { Int(OpenSSL_version_num()) }

    /// Whether the provider with old ciphers (RC2, RC4, single DES) can be loaded.
    package static var hasLegacyProvider: Bool { (try? legacy()) != nil }

    /// Starts libcrypto without a configuration file, even if OPENSSL_CONF names one. Later calls have no effect.
    ///
    /// Call this before any use of libcrypto; otherwise libcrypto would load openssl.cnf.
    package static func start() { _ = started }

    /// libcrypto does not clean up when the process ends, because the system then frees all memory.
    private static let started: Bool =
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Makes libcrypto overwrite all memory that it frees, in the whole process. This must be called before any use of
    /// libcrypto; a later call has no effect. On systems other than Linux it never has an effect.
    ///
    /// libcrypto: `CRYPTO_set_mem_functions`
    package static func wipeFreedMemory() { WipingAllocator.install() }

    /// Keeps the secret numbers of private keys in memory that is not swapped out, as far as the system allows this process
    /// to lock memory (`RLIMIT_MEMLOCK`). For processes that keep keys for a long time. Call this once, before the first key
    /// is read.
    ///
    /// libcrypto: `CRYPTO_secure_malloc_init`
    ///
    /// - Parameter size: the size of that memory in bytes, a power of two. It cannot grow later; an RSA-4096 key takes about
    ///   4 KiB.
    /// - Returns: whether the memory is locked. If it is not, keys may be swapped out.
    package static func lockKeys(in size: Int) -> Bool {
        start()
        // 2 means that the memory is there, but the system did not lock it.
        return CRYPTO_secure_malloc_init(size, 32) == 1
    }

    /// Empties this thread's error queue.
    ///
    /// libcrypto: `ERR_clear_error`
    package static func clearErrors() { ERR_clear_error() }

    /// A separate library context with the legacy provider in addition to the default provider, for decrypting old private
    /// keys, PKCS#12 files and mail. Do not use the context for anything else. The context exists until the process ends.
    package static func legacy() throws(OpenSSLError) -> OpaquePointer {
        switch legacyContext {
        case .success(let context): return context.pointer
        case .failure(let error): throw error
        }
    }

    /// Several threads may use an `OSSL_LIB_CTX` at once (openssl-threads(7)), and this context does not change after its
    /// creation.
    private struct Context: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer
    }

    private static let legacyContext: Result<Context, OpenSSLError> = Result { () throws(OpenSSLError) in
        start()
        guard let context = OSSL_LIB_CTX_new() else { throw OpenSSLError("OSSL_LIB_CTX_new") }
        // Load providers from the folder that this libcrypto was built for, not from the one in OPENSSL_MODULES.
        if let folder = OPENSSL_info(OPENSSL_INFO_MODULES_DIR) {
            OSSL_PROVIDER_set_default_search_path(context, folder)
        }
        for name in ["default", "legacy"] where OSSL_PROVIDER_load(context, name) == nil {
            let error = OpenSSLError("OSSL_PROVIDER_load")
            OSSL_LIB_CTX_free(context)
            throw error
        }
        return Context(pointer: context)
    }
}

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

/// An allocator for libcrypto that overwrites memory when it is freed.
///
/// libcrypto wipes the memory that it knows to be secret, but not every copy. For example, the PKCS#8 encodings that its
/// encoders pass on are freed without being wiped.
package enum WipingAllocator {
    /// Replaces libcrypto's malloc, on Linux only. This is possible only before libcrypto's first allocation.
    ///
    /// libcrypto: `CRYPTO_set_mem_functions`
    package static func install() {
        #if os(Linux)
        _ = CRYPTO_set_mem_functions(
            { count, _, _ in malloc(count) },
            { old, count, _, _ in WipingAllocator.reallocate(old, count) },
            { block, _, _ in WipingAllocator.release(block) }
        )
        #endif
    }

    #if os(Linux)
    private static func release(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        OPENSSL_cleanse(block, malloc_usable_size(block))
        free(block)
    }

    /// Like realloc(3), but overwrites the old memory.
    private static func reallocate(_ old: UnsafeMutableRawPointer?, _ count: Int) -> UnsafeMutableRawPointer? {
        guard let old else { return malloc(count) }
        let held = malloc_usable_size(old)
        if count <= held, count > held / 2 { return old }
        guard let new = malloc(count) else { return nil }
        memcpy(new, old, min(held, count))
        release(old)
        return new
    }
    #endif
}
