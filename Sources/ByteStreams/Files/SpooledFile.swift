#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes in an unlinked file of their own, which another process can be given to read.
///
/// The file lies where spools lie and has no name, so nothing of it outlives the processes that hold it.
package final class SpooledFile: Sendable {
    /// The open file; it is closed with this value.
    package let descriptor: Int32

    /// A file with what `body` writes.
    ///
    /// - Throws: what making and writing the file throws.
    package init(_ body: (any ByteSink) throws -> Void) throws {
        descriptor = try TemporaryFile.anonymous(in: Spool.folder)
        let sink = DescriptorSink(descriptor, spoolFolder: Spool.folder)
        try body(sink)
        try sink.flush()
    }

    /// A file with all of `source`: the file of a spool itself, else a copy.
    ///
    /// - Throws: what making, reading and writing throws.
    package convenience init(of source: any ByteSource) throws {
        if let descriptor = try (source as? FileSource)?.copyOfUnnamed() {
            self.init(adopting: descriptor)
        } else {
            try self.init { try source.reader().copy(to: $0) }
        }
    }

    /// A file that another process made and gave to this one; it is closed with this value.
    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    /// A file with everything that comes from `descriptor`, which stays open.
    ///
    /// - Throws: what making, reading and writing throws.
    package convenience init(readingToEnd descriptor: Int32) throws {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw StreamError.readFailed(code: errno) }
        let reader = DescriptorReader(adopting: copy)
        try self.init { try reader.copy(to: $0) }
    }

    /// The file that `body` writes, for functions that need a file name: it gets an unused path in a folder of mode
    /// 0700. Both names are removed afterwards.
    ///
    /// - Throws: `StreamError.cannotCreate`, `.cannotOpen` if there is no file then; what `body` throws.
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

    /// Everything in the file. Readers of the descriptor start at the first byte, too.
    ///
    /// - Throws: `StreamError.readFailed`
    package func rewound() throws(StreamError) -> any ByteSource {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw StreamError.readFailed(code: errno) }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw StreamError.readFailed(code: errno) }
        return try FileSource(adopting: copy, from: 0)
    }
}
