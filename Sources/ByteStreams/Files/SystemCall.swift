#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Calls functions of the C library from types whose methods have the same names.
enum SystemCall {
    /// open(2)
    static func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

    /// read(2)
    static func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, count: Int) -> Int {
        read(descriptor, buffer, count)
    }

    /// write(2)
    static func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, count: Int) -> Int {
        write(descriptor, bytes, count)
    }
}
