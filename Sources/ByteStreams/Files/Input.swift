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
    /// Opens the file at `path`. Pipes, terminals and devices are read to their end into a spool.
    ///
    /// - Parameter mayBeSecret: whether the spool's memory is wiped after use. Input that is larger than the spool's memory
    ///   limit is still written to disk.
    /// - Throws: `StreamError.cannotOpen`, and errors of reading and spooling.
    package static func open(path: String, mayBeSecret: Bool = false) throws -> any ByteSource {
        let descriptor = SystemCall.openFile(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw StreamError.cannotOpen(path: path, code: EISDIR)
        }
        return try source(adopting: descriptor, mayBeSecret: mayBeSecret)
    }

    /// The rest of standard input.
    ///
    /// - Parameter mayBeSecret: see `open(path:mayBeSecret:)`.
    package static func standardInput(mayBeSecret: Bool = false) throws -> any ByteSource {
        let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: "standard input", code: errno) }
        return try source(adopting: descriptor, mayBeSecret: mayBeSecret)
    }

    private static func source(adopting descriptor: Int32, mayBeSecret: Bool) throws -> any ByteSource {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            return try FileSource(adopting: descriptor, from: max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
        }
        let (spool, reader) = (Spool(), DescriptorReader(adopting: descriptor))
        if mayBeSecret {
            let (memory, isFull) = try PrivateMemory.filled(by: reader, limit: Spool.memoryLimit)
            guard isFull else { return memory }
            try memory.reader().copy(to: spool)
        }
        try reader.copy(to: spool)
        return try spool.finish()
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
