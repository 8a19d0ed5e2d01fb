#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Makes files that have no name, or not yet their own.
enum TemporaryFile {
    /// Opens an unlinked file for reading and writing, mode 0600, in `folder`.
    static func anonymous(in folder: String) throws(StreamError) -> Int32 {
        if let unnamed = unnamed(in: folder, mode: 0o600) { return unnamed }
        let (descriptor, path) = try named(in: folder, mode: 0o600)
        unlink(path)
        return descriptor
    }

    /// Opens a new file with a name of its own in `folder`.
    static func named(in folder: String, mode: mode_t) throws(StreamError) -> (descriptor: Int32, path: String) {
        try withNewName(in: folder) { open($0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode) }
    }

    /// Opens a new file without a name in `folder`, which `name` can give it; nil where the system cannot do that.
    static func unnamed(in folder: String, mode: mode_t) -> Int32? {
        #if os(Linux)
        // O_TMPFILE, a macro too involved for Swift's importer.
        let flag: Int32 = 0o20000000 | O_DIRECTORY
        guard access("/proc/self/fd", X_OK) == 0 else { return nil }
        let descriptor = open(folder, flag | O_RDWR | O_CLOEXEC, mode)
        return descriptor >= 0 ? descriptor : nil
        #else
        return nil
        #endif
    }

    /// Makes a new folder of mode 0700 in `folder`.
    static func folder(in folder: String) throws(StreamError) -> String {
        try withNewName(in: folder) { mkdir($0, 0o700) }.path
    }

    /// Gives a file that `unnamed` made a name in the folder it was made in.
    static func name(_ descriptor: Int32, in folder: String) throws(StreamError) -> String {
        try withNewName(in: folder) { linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW) }
            .path
    }

    /// Sees to it that the names in `folder` survive the loss of power.
    ///
    /// A folder may be written and not read, and some file systems cannot do that for folders; neither is a failure.
    static func synchronize(folder: String) throws(StreamError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP else { return }
        throw StreamError.writeFailed(code: errno)
    }

    /// Calls `body` with names that are probably free until it returns something that is not negative.
    private static func withNewName(
        in folder: String,
        _ body: (String) -> Int32
    ) throws(StreamError) -> (descriptor: Int32, path: String) {
        var failure: Int32 = EEXIST
        for _ in 0..<100 {
            let path = "\(folder)/.smime-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            let result = body(path)
            if result >= 0 { return (result, path) }
            failure = errno
            guard failure == EEXIST else { break }
        }
        throw StreamError.cannotCreate(path: folder, code: failure)
    }
}
