import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Protects the memory of this process, which contains keys, passphrases and plaintext.
package enum MemoryDumps {
    /// Excludes the memory from core files and from access by other processes of the same user.
    ///
    /// setrlimit(2) `RLIMIT_CORE`, prctl(2) `PR_SET_DUMPABLE`
    ///
    /// - Returns: whether both took effect.
    @discardableResult
    package static func forbid() -> Bool {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if os(Linux)
        let isLimited = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0
        return smime_prctl_set_dumpable(0) == 0 && isLimited
        #else
        return setrlimit(RLIMIT_CORE, &none) == 0
        #endif
    }
}
