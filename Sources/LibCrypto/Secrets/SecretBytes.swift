import ByteStreams
import COpenSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Secret bytes in one place in memory, wiped when the last reference is released.
package final class SecretBytes: Sendable {
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// Allocates `count` zero bytes, which `body` fills.
    package convenience init<Failure: Error>(
        count: Int,
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try self.init(filling: count) { buffer throws(Failure) in
            var bytes = MutableSpan<UInt8>(_unsafeBytes: buffer)
            try body(&bytes)
        }
    }

    /// Allocates `count` bytes, which `body` fills by passing them to libcrypto.
    init<Failure: Error>(
        filling count: Int,
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = .allocate(byteCount: max(count, 1), alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        self.count = count
        try body(UnsafeMutableRawBufferPointer(rebasing: storage[..<count]))
    }

    /// The number of bytes.
    package let count: Int

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// `count` secret random bytes.
    ///
    /// libcrypto: `RAND_priv_bytes`
    package static func random(count: Int) throws(OpenSSLError) -> SecretBytes {
        Libcrypto.start()
        return try SecretBytes(filling: count) { buffer throws(OpenSSLError) in
            try check(
                RAND_priv_bytes(buffer.bindMemory(to: UInt8.self).baseAddress, CInt(buffer.count)),
                "RAND_priv_bytes"
            )
        }
    }

    /// Lends the bytes for the duration of `body`.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(Span(_unsafeBytes: storage[..<count]))
    }

    /// A copy of the bytes, which the caller must wipe.
    package func copied() -> [UInt8] { Array(storage[..<count]) }

    /// Lends the bytes to `body`, which passes them to libcrypto and must not store the pointer.
    func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }
}

/// `count` random bytes that need not stay secret, for nonces and initialization vectors.
///
/// libcrypto: `RAND_bytes`
package func randomBytes(count: Int) throws(OpenSSLError) -> [UInt8] {
    Libcrypto.start()
    var bytes = [UInt8](repeating: 0, count: count)
    try check(RAND_bytes(&bytes, CInt(count)), "RAND_bytes")
    return bytes
}

extension SecretBytes {
    /// Copies `bytes`, which the caller must wipe.
    package convenience init(copying bytes: some Collection<UInt8>) {
        self.init(filling: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies `bytes`, which the caller must wipe.
    package convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { $0.copy(bytes) }
    }

    /// Decodes the base64 in `lines` without leaving another copy in memory; nil if the lines are not base64.
    ///
    /// libcrypto: `EVP_DecodeUpdate`
    package convenience init?(base64 lines: ArraySlice<ArraySlice<UInt8>>) throws(OpenSSLError) {
        let room = lines.reduce(0) { $0 + $1.count } / 4 * 3 + 3
        var count: Int?
        let padded = try SecretBytes(filling: room) { output throws(OpenSSLError) in
            count = try Self.decode(lines, into: output)
        }
        guard let count else { return nil }
        self.init(filling: count) { output in padded.withUnsafeBytes { output.copyBytes(from: $0.prefix(count)) } }
    }

    private static func decode(
        _ lines: ArraySlice<ArraySlice<UInt8>>,
        into output: UnsafeMutableRawBufferPointer
    ) throws(OpenSSLError) -> Int? {
        Libcrypto.start()
        defer { ERR_clear_error() }
        let context = try Owned<EVP_ENCODE_CTX>(EVP_ENCODE_CTX_new(), "EVP_ENCODE_CTX_new")
        let target = output.bindMemory(to: UInt8.self).baseAddress
        return context.withPointer { context -> Int? in
            var (total, written): (Int, CInt) = (0, 0)
            EVP_DecodeInit(context)
            for line in lines {
                let result = line.withUnsafeBufferPointer { line in
                    EVP_DecodeUpdate(
                        context,
                        target.map { $0 + total },
                        &written,
                        line.baseAddress,
                        CInt(clamping: line.count)
                    )
                }
                guard result >= 0 else { return nil }
                total += Int(written)
            }
            guard EVP_DecodeFinal(context, target.map { $0 + total }, &written) == 1 else { return nil }
            return total + Int(written)
        }
    }
}

extension [UInt8] {
    /// Overwrites the bytes. Effective only if no other array shares their storage.
    ///
    /// libcrypto: `OPENSSL_cleanse`
    package mutating func wipe() {
        withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

/// Secrets that earlier calls left on the stack and in registers.
package enum StackResidue {
    /// Overwrites 32 KiB of the stack below this call and, on x86-64, the vector registers.
    package static func wipe() { smime_wipe_stack() }
}

/// Secret bytes in separate memory pages, which are not swapped out and, on Linux, not written to core files. They are wiped
/// when the last reference is released.
///
/// For secrets that a process keeps for hours. `SecretBytes` is for secrets that are needed for a short time.
///
/// mlock(2), madvise(2) `MADV_DONTDUMP`
package final class LockedBytes: Sendable {
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer
    /// The number of bytes.
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
