#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An unnamed private file that is filled and cleared for one message after another. Other processes can inherit it.
///
/// The file is in the spool folder. It belongs to one task at a time, which tracks how many bytes are in use.
package final class ReusableSpool: Sendable {
    /// The open file; it is closed when this object is released.
    package let descriptor: Int32

    /// Creates an empty file.
    ///
    /// - Throws: `StreamError.cannotCreate`
    package init() throws(StreamError) { descriptor = try TemporaryFile.anonymous(in: Spool.folder) }

    /// Takes ownership of a file that another process created and passed to this one.
    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Writes `bytes` at `offset`.
    ///
    /// - Throws: `StreamError.writeFailed`, for example if the disk is full.
    package func write(_ bytes: Span<UInt8>, at offset: Int) throws(StreamError) {
        var rest = bytes
        var position = offset
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StreamError.writeFailed(code: count < 0 ? errno : ENOSPC) }
            rest = rest.extracting(droppingFirst: count)
            position += count
        }
    }

    /// Writes `bytes` at `offset`.
    ///
    /// - Throws: `StreamError.writeFailed`, for example if the disk is full.
    package func write(_ bytes: [UInt8], at offset: Int) throws(StreamError) {
        try write(bytes.octets, at: offset)
    }

    /// The bytes of `range` as a source. The file must not be written while the source is in use.
    ///
    /// - Throws: `StreamError.readFailed`; `.changedWhileReading` if the file is shorter than the range.
    package func source(in range: Range<Int>) throws(StreamError) -> any ByteSource {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw StreamError.readFailed(code: errno) }
        let file = try FileSource(adopting: copy, from: 0)
        guard range.lowerBound >= 0, range.upperBound <= file.count else { throw StreamError.changedWhileReading }
        return SourceSlice(file, range)
    }

    /// Truncates the file to free its disk space.
    ///
    /// - Throws: `StreamError.writeFailed`
    package func clear() throws(StreamError) {
        guard ftruncate(descriptor, 0) == 0 else { throw StreamError.writeFailed(code: errno) }
    }
}

/// Writes into a `ReusableSpool`, starting at an offset.
package final class ReusableSpoolSink: ByteSink {
    private let spool: ReusableSpool
    /// The offset at which the next byte is written.
    package private(set) var position: Int

    package init(_ spool: ReusableSpool, from position: Int) {
        self.spool = spool
        self.position = position
    }

    package func write(_ bytes: Span<UInt8>) throws {
        try spool.write(bytes, at: position)
        position += bytes.count
    }
}
