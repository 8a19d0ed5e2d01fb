#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Stores bytes to read them again: in memory up to a limit, and beyond the limit in an unlinked file.
///
/// The file is in `$TMPDIR`, or in /var/tmp if that is unset. It has mode 0600 and no name, so it disappears with the
/// process.
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
