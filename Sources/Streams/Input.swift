import Foundation

/// Where a message comes from: a regular file is read in place, everything else is spooled first.
public enum Input {
    /// Opens the file at `path`; pipes, terminals and devices are read to their end into a spool.
    ///
    /// - Throws: `StreamError.cannotOpen`, or what reading or spooling throws.
    public static func open(path: String) throws -> any ByteSource {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw StreamError.cannotOpen(path: path, code: EISDIR)
        }
        return try source(adopting: descriptor)
    }

    /// What is left of standard input.
    public static func standardInput() throws -> any ByteSource {
        let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: "standard input", code: errno) }
        return try source(adopting: descriptor)
    }

    private static func source(adopting descriptor: Int32) throws -> any ByteSource {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            return try FileSource(adopting: descriptor, from: max(0, Int(lseek(descriptor, 0, SEEK_CUR))))
        }
        let spool = Spool()
        try DescriptorReader(adopting: descriptor).copy(to: spool)
        return try spool.finish()
    }
}

/// Reads an open descriptor to its end and closes it.
final class DescriptorReader: ByteReader {
    private let descriptor: Int32

    init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw StreamError.readFailed(code: errno) }
        }
    }
}
