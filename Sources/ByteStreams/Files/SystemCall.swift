#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Functions of the C library with spans instead of pointers. Unlike the originals, they can also be called in types with
/// methods named `open`, `read` or `write`.
package enum SystemCall {
    /// open(2)
    static func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

    /// read(2)
    package static func readBytes(_ descriptor: Int32, into buffer: inout MutableSpan<UInt8>) -> Int {
        buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    }

    /// write(2)
    package static func writeBytes(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
        bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Calls write(2) until all of `bytes` is written. Returns 0, or errno if writing fails.
    package static func writeAll(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = writeBytes(descriptor, rest)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : ENOSPC }
            rest = rest.extracting(droppingFirst: count)
        }
        return 0
    }

    /// Calls write(2) once with `text`, without allocating memory, so that a signal handler may call it (signal-safety(7)).
    package static func writeText(_ text: StaticString, to descriptor: Int32) {
        text.withUTF8Buffer { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
