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
    /// Excludes the memory from core files and, on Linux, from access by other processes of the same user.
    ///
    /// setrlimit(2) `RLIMIT_CORE`, prctl(2) `PR_SET_DUMPABLE`
    ///
    /// - Returns: whether all of this took effect.
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

/// Adapts the process to a limited address space.
package enum AddressSpace {
    /// Prevents the C library from reserving 64 MiB for every thread if the address space is limited. Call this while the
    /// process has one thread.
    ///
    /// getrlimit(2) `RLIMIT_AS`, mallopt(3) `M_ARENA_MAX`
    package static func limitReservations() {
        #if os(Linux)
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
            return
        }
        shareHeap()
        #endif
    }

    /// Makes all threads of the process allocate from one heap. Otherwise freed memory stays with the heap of the thread that
    /// allocated it, and a process whose threads work in turn grows by some MB for each heap. Call this while the process has
    /// one thread.
    ///
    /// mallopt(3) `M_ARENA_MAX`
    package static func shareHeap() {
        #if canImport(Glibc)
        _ = mallopt(M_ARENA_MAX, 1)
        #endif
    }

    /// Whether the process can still map `count` bytes.
    ///
    /// mmap(2)
    package static func canMap(byteCount count: Int) -> Bool {
        let probe = mmap(nil, count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let probe, probe != MAP_FAILED else { return false }
        munmap(probe, count)
        return true
    }
}
