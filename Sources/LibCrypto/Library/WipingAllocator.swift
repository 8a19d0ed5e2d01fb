import COpenSSL

/// An allocator for libcrypto that overwrites memory when it is freed.
///
/// libcrypto wipes the memory that it knows to be secret, but not every copy. For example, the PKCS#8 encodings that its
/// encoders pass on are freed without being wiped.
package enum WipingAllocator {
    /// Replaces libcrypto's malloc. This is possible only before libcrypto's first allocation.
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
