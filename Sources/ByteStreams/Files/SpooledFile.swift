#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes in an unlinked file of their own, which can be passed to another process.
///
/// The file is in the spool folder and has no name, so it disappears with the processes that hold it.
package final class SpooledFile: Sendable {
    /// The open file; it is closed when this object is released.
    package let descriptor: Int32

    /// Creates a file with the bytes that `body` writes.
    ///
    /// - Throws: errors of creating and writing the file, and of `body`.
    package init(_ body: (any ByteSink) throws -> Void) throws {
        descriptor = try TemporaryFile.anonymous(in: Spool.folder)
        let sink = DescriptorSink(descriptor, spoolFolder: Spool.folder)
        try body(sink)
        try sink.flush()
    }

    /// A file with all bytes of `source`: the spool's own file if there is one, otherwise a copy.
    ///
    /// - Throws: errors of creating, reading and writing the file.
    package convenience init(of source: any ByteSource) throws {
        if let descriptor = try (source as? FileSource)?.copyOfUnnamed() {
            self.init(adopting: descriptor)
        } else {
            try self.init { try source.reader().copy(to: $0) }
        }
    }

    /// Takes ownership of a file that another process created and passed to this one.
    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    /// Creates a file with all bytes that can be read from `descriptor`, which stays open.
    ///
    /// - Throws: errors of creating, reading and writing the file.
    package convenience init(readingToEnd descriptor: Int32) throws {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw StreamError.readFailed(code: errno) }
        let reader = DescriptorReader(adopting: copy)
        try self.init { try reader.copy(to: $0) }
    }

    /// Creates a file through `body`, for functions that need a file name. `body` receives an unused path in a folder of mode
    /// 0700. The path and the folder are removed afterwards.
    ///
    /// - Throws: `StreamError.cannotCreate`; `.cannotOpen` if `body` created no file; errors of `body`.
    package init(named body: (String) async throws -> Void) async throws {
        let folder = try TemporaryFile.folder(in: Spool.folder)
        let path = "\(folder)/file"
        defer {
            unlink(path)
            rmdir(folder)
        }
        try await body(path)
        descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
    }

    deinit { close(descriptor) }

    /// The whole file as a source. The descriptor's position is reset to the first byte.
    ///
    /// - Throws: `StreamError.readFailed`
    package func rewound() throws(StreamError) -> any ByteSource {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw StreamError.readFailed(code: errno) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw StreamError.readFailed(code: errno) }
        return try FileSource(adopting: copy, from: 0)
    }
}
