#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Creates unnamed files, and files with temporary names.
enum TemporaryFile {
    /// Opens an unlinked file for reading and writing, mode 0600, in `folder`.
    static func anonymous(in folder: String) throws(StreamError) -> Int32 {
        if let unnamed = unnamed(in: folder, mode: 0o600) { return unnamed }
        let (descriptor, path) = try named(in: folder, mode: 0o600)
        unlink(path)
        return descriptor
    }

    /// Opens a new file with a unique name in `folder`.
    static func named(in folder: String, mode: mode_t) throws(StreamError) -> (descriptor: Int32, path: String) {
        try withNewName(in: folder) { open($0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode) }
    }

    /// Opens a new file without a name in `folder`; nil if this fails, for example because the file system does not support
    /// it. `name(_:in:)` can give the file a name.
    static func unnamed(in folder: String, mode: mode_t) -> Int32? {
        #if os(Linux)
        // The value of O_TMPFILE, a macro that Swift cannot import.
        let flag: Int32 = 0o20000000 | O_DIRECTORY
        guard access("/proc/self/fd", X_OK) == 0 else { return nil }
        let descriptor = open(folder, flag | O_RDWR | O_CLOEXEC, mode)
        return descriptor >= 0 ? descriptor : nil
        #else
        return nil
        #endif
    }

    /// Creates a new folder of mode 0700 in `folder`.
    static func folder(in folder: String) throws(StreamError) -> String {
        try withNewName(in: folder) { mkdir($0, 0o700) }.path
    }

    /// Gives a name to a file that `unnamed` opened, in the folder where it was created.
    static func name(_ descriptor: Int32, in folder: String) throws(StreamError) -> String {
        try withNewName(in: folder) { linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW) }
            .path
    }

    /// Syncs `folder`, so that its entries survive a power failure.
    ///
    /// A folder may be writable but not readable, and some file systems cannot sync folders. Neither case is reported as a
    /// failure.
    static func synchronize(folder: String) throws(StreamError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP else { return }
        throw StreamError.writeFailed(code: errno)
    }

    /// Calls `body` with random names until it returns a non-negative number. Gives up at an error other than `EEXIST`, or
    /// after 100 attempts.
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
