import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Secret bytes in separate memory pages, which are neither swapped out nor written to core files. They are wiped when the
/// last reference is released.
///
/// For secrets that a process keeps for hours. `SecretBytes` is for secrets that are needed for a short time.
///
/// mlock(2), madvise(2) `MADV_DONTDUMP`
package final class LockedBytes: Sendable {
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer
    package let count: Int

    /// Allocates `count` zero bytes; nil if the system does not allow this process to lock memory (`RLIMIT_MEMLOCK`).
    package init?(count: Int) {
        let page = max(sysconf(Int32(_SC_PAGESIZE)), 4096)
        let size = (max(count, 1) + page - 1) / page * page
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { return nil }
        guard mlock(start, size) == 0 else {
            munmap(start, size)
            return nil
        }
        #if os(Linux)
        madvise(start, size, MADV_DONTDUMP)
        #endif
        storage = UnsafeMutableRawBufferPointer(start: start, count: size)
        self.count = count
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        munmap(storage.baseAddress, storage.count)
    }

    /// Lends the bytes to `body`, which fills them. Call this before the object is shared.
    package func fill(_ body: (inout MutableSpan<UInt8>) -> Void) {
        var bytes = MutableSpan<UInt8>(_unsafeBytes: storage[..<count])
        body(&bytes)
    }

    /// Lends the bytes for the duration of `body`.
    package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(Span(_unsafeBytes: storage[..<count]))
    }
}
