#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes to an open file descriptor through a buffer of one window.
///
/// Data is guaranteed to be written only after `flush()` has returned.
package final class DescriptorSink: ByteSink {
    private let descriptor: Int32
    private let window = Window()
    private var filled = 0
    /// The folder that errors name if the sink writes a spool, whose file has no name; nil for any other file.
    private let spoolFolder: String?

    /// A sink that writes to `descriptor`; the caller closes the descriptor.
    package convenience init(_ descriptor: Int32) { self.init(descriptor, spoolFolder: nil) }

    /// A sink for a spool. If writing fails, the error is `StreamError.spoolFailed` with `spoolFolder`.
    init(_ descriptor: Int32, spoolFolder: String?) {
        self.descriptor = descriptor
        self.spoolFolder = spoolFolder
    }

    /// A sink that writes to standard output.
    package static func standardOutput() -> DescriptorSink { DescriptorSink(STDOUT_FILENO) }

    package func write(_ bytes: Span<UInt8>) throws {
        if bytes.count >= window.count - filled { try flush() }
        guard bytes.count < window.count else { return try writeThrough(bytes) }
        filled += window.copy(bytes, at: filled)
    }

    /// Writes the bytes that are still in the buffer.
    package func flush() throws {
        let (window, count) = (window, filled)
        filled = 0
        try writeThrough(window.prefix(count))
    }

    private func writeThrough(_ bytes: Span<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = SystemCall.writeBytes(descriptor, rest)
            if count >= 0 {
                rest = rest.extracting(droppingFirst: count)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                let code = errno
                throw spoolFolder.map { .spoolFailed(folder: $0, code: code) } ?? StreamError.writeFailed(code: code)
            }
        }
    }
}
