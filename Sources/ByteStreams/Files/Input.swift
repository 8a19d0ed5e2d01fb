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

/// The input of a command. A regular file is read on demand; any other input is first copied to a spool.
package enum Input {
    /// The limit for an input that begins with `head`, its first bytes up to the spool's memory limit; nil if there is none.
    package typealias Limit = (_ head: any ByteSource) throws -> Int?

    /// Opens the file at `path`. Pipes, terminals and devices are read to their end into a spool.
    ///
    /// - Parameters:
    ///   - mayBeSecret: whether input that fits into the spool's memory limit is wiped after use. Larger input is still
    ///     written to disk.
    ///   - limit: the maximum number of bytes that the caller accepts. A pipe or device may never end. The function reads
    ///     at most one byte more than this limit (or than the spool's memory limit, if that is larger), so `count` shows
    ///     the caller that the input is too long.
    /// - Throws: `StreamError.cannotOpen`, errors of reading and spooling, and those of `limit`.
    package static func open(
        path: String,
        mayBeSecret: Bool = false,
        limit: Limit? = nil
    ) throws -> any ByteSource {
        let descriptor = SystemCall.openFile(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw StreamError.cannotOpen(path: path, code: EISDIR)
        }
        return try source(adopting: descriptor, mayBeSecret: mayBeSecret, limit: limit)
    }

    /// The rest of standard input. The parameters are those of `open(path:mayBeSecret:limit:)`.
    package static func standardInput(mayBeSecret: Bool = false, limit: Limit? = nil) throws -> any ByteSource {
        let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: "standard input", code: errno) }
        return try source(adopting: descriptor, mayBeSecret: mayBeSecret, limit: limit)
    }

    private static func source(
        adopting descriptor: Int32,
        mayBeSecret: Bool,
        limit: Limit?
    ) throws -> any ByteSource {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            return try FileSource(adopting: descriptor, from: max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
        }
        // A spool in memory is not wiped.
        let spool = Spool(memoryLimit: mayBeSecret ? 0 : Spool.memoryLimit)
        let reader = DescriptorReader(adopting: descriptor)
        guard mayBeSecret || limit != nil else {
            try reader.copy(to: spool)
            return try spool.finish()
        }
        let head = try head(of: reader, mayBeSecret: mayBeSecret)
        guard head.count >= Spool.memoryLimit else { return head }
        try head.reader().copy(to: spool)
        if let most = try limit?(head) {
            try PrefixReader(reader, count: max(0, most - head.count) + 1).copy(to: spool)
        } else {
            try reader.copy(to: spool)
        }
        return try spool.finish()
    }

    /// The next bytes of `reader`, up to the spool's memory limit.
    private static func head(of reader: DescriptorReader, mayBeSecret: Bool) throws -> any ByteSource {
        guard !mayBeSecret else { return try PrivateMemory.filled(by: reader, limit: Spool.memoryLimit).memory }
        return try Spool.source { try PrefixReader(reader, count: Spool.memoryLimit).copy(to: $0) }
    }
}

/// Reads an open descriptor to its end and closes it.
final class DescriptorReader: ByteReader {
    private let descriptor: Int32

    init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        while true {
            let count = SystemCall.readBytes(descriptor, into: &buffer)
            if count >= 0 { return count }
            if errno == EAGAIN {
                // Another process that shares the pipe may have made it non-blocking, so this waits until the pipe is
                // readable.
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                throw StreamError.readFailed(code: errno)
            }
        }
    }
}
