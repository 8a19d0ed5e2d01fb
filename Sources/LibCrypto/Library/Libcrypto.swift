import COpenSSL

/// The libcrypto that this process runs on.
package enum Libcrypto {
    /// Its version as it names itself, as in `OpenSSL 3.0.22 25 Aug 2026`.
    package static var version: String {
        start()
        return OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "unknown"
    }

    /// Which libcrypto this process runs on, down to the day it was built: distributions mend faults without changing the version.
    ///
    /// libcrypto: `OpenSSL_version`
    package static var build: String {
        [OPENSSL_VERSION, OPENSSL_BUILT_ON, OPENSSL_PLATFORM, OPENSSL_CFLAGS].map {
            String(cString: OpenSSL_version($0))
        }
        .joined(separator: "; ")
    }

    /// The version as libcrypto packs it into one number.
    ///
    /// libcrypto: `OpenSSL_version_num`
    package static var packedVersion: Int { Int(OpenSSL_version_num()) }

    /// Whether the provider with the historic ciphers (RC2, RC4, single DES) can be loaded.
    package static var hasLegacyProvider: Bool { (try? legacy()) != nil }

    /// Starts libcrypto without its configuration file, whatever OPENSSL_CONF says; only the first call does something.
    ///
    /// Every use of libcrypto calls this first; otherwise libcrypto would load openssl.cnf.
    package static func start() { _ = started }

    /// libcrypto does not clean up at the end of the process, when the system takes all memory back.
    private static let started: Bool =
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Makes libcrypto overwrite all memory that it frees, for the whole process. A program must call it first, before
    /// any use of libcrypto; later it does nothing.
    ///
    /// libcrypto: `CRYPTO_set_mem_functions`
    package static func wipeFreedMemory() { WipingAllocator.install() }

    /// Keeps the numbers of private keys in memory of their own that is not swapped out, as far as the system lets this process lock
    /// memory (`RLIMIT_MEMLOCK`). For processes that hold keys for long; a program calls it once, before it reads a key.
    ///
    /// libcrypto: `CRYPTO_secure_malloc_init`
    ///
    /// - Parameter size: a power of two, in bytes, which cannot grow: an RSA-4096 key takes about 4 KiB.
    package static func lockKeys(in size: Int) {
        start()
        _ = CRYPTO_secure_malloc_init(size, 32)
    }

    /// Empties this thread's error queue.
    ///
    /// libcrypto: `ERR_clear_error`
    package static func forgetErrors() { ERR_clear_error() }

    /// A library context of our own with the legacy provider beside the default one, for what old PKCS#12 files and old
    /// mail are encrypted with. Nothing else may use it. It lives as long as the process.
    static func legacy() throws(OpenSSLError) -> OpaquePointer {
        switch legacyContext {
        case .success(let context): return context.pointer
        case .failure(let error): throw error
        }
    }

    /// `OSSL_LIB_CTX` is safe to use from several threads at once (openssl-threads(7)), and never changed again here.
    private struct Context: Sendable {
        nonisolated(unsafe) let pointer: OpaquePointer
    }

    private static let legacyContext: Result<Context, OpenSSLError> = Result { () throws(OpenSSLError) in
        start()
        guard let context = OSSL_LIB_CTX_new() else { throw OpenSSLError("OSSL_LIB_CTX_new") }
        // The folder that this libcrypto was built for, not the one in OPENSSL_MODULES.
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
