#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Stores bytes to read them again: in memory up to a limit, and beyond the limit in an unlinked file.
///
/// The file is in `$TMPDIR`, or in /var/tmp if that is unset or empty. It has mode 0600 and no name, so it disappears with
/// the process.
package final class Spool: ByteSink {
    /// The number of bytes that are kept in memory by default.
    package static let memoryLimit = 1024 * 1024

    private let limit: Int
    private var memory: [UInt8] = []
    private var file: DescriptorSink?
    private var descriptor: Int32 = -1

    /// - Parameter memoryLimit: the maximum number of bytes to keep in memory.
    package init(memoryLimit: Int = Spool.memoryLimit) { limit = memoryLimit }

    /// Collects the output of `body` and returns it as a source.
    ///
    /// - Throws: errors that `body` throws; `StreamError` if the file cannot be created, written or read.
    package static func source(
        memoryLimit: Int = Spool.memoryLimit,
        of body: (any ByteSink) throws -> Void
    ) throws -> any ByteSource {
        let spool = Spool(memoryLimit: memoryLimit)
        try body(spool)
        return try spool.finish()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    package func write(_ bytes: Span<UInt8>) throws {
        if let file { return try file.write(bytes) }
        guard memory.count + bytes.count > limit else { return memory.append(contentsOf: bytes) }
        descriptor = try TemporaryFile.anonymous(in: Self.folder)
        let file = DescriptorSink(descriptor, spoolFolder: Self.folder)
        try file.write(memory)
        try file.write(bytes)
        memory = []
        self.file = file
    }

    /// All bytes written so far, as a source. Nothing more can be written to the spool.
    package consuming func finish() throws -> any ByteSource {
        guard let file else { return MemorySource(memory) }
        try file.flush()
        let source = try FileSource(adopting: descriptor, from: 0)
        descriptor = -1
        return source
    }

    static var folder: String {
        guard let folder = getenv("TMPDIR").map({ String(cString: $0) }), !folder.isEmpty else { return "/var/tmp" }
        return folder
    }
}

/// An unnamed private file that is filled and cleared for one message after another. It can be passed to another process.
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
