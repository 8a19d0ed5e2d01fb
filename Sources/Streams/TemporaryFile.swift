import Foundation

/// Makes files that have no name, or not yet their own.
enum TemporaryFile {
    /// Opens an unlinked file for reading and writing, mode 0600, in `folder`.
    static func anonymous(in folder: String) throws(StreamError) -> Int32 {
        if let descriptor = unnamed(in: folder, mode: 0o600) { return descriptor }
        let (descriptor, path) = try named(in: folder, mode: 0o600)
        unlink(path)
        return descriptor
    }

    /// Opens a file without a name, which `name` can give it later; nil where the file system has none.
    ///
    /// Whatever ends the process, such a file ends with it.
    static func unnamed(in folder: String, mode: mode_t) -> Int32? {
        #if os(Linux)
        let descriptor = open(folder, unnamedFlag | O_RDWR | O_CLOEXEC, mode)
        return descriptor >= 0 ? descriptor : nil
        #else
        return nil
        #endif
    }

    /// Gives a file that was opened without a name one of its own in `folder`.
    static func name(_ descriptor: Int32, in folder: String) throws(StreamError) -> String {
        try attempt(in: folder) { path in
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? path : nil
        }
    }

    /// Opens a new file with a name of its own in `folder`.
    static func named(in folder: String, mode: mode_t) throws(StreamError) -> (descriptor: Int32, path: String) {
        try attempt(in: folder) { path in
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            return descriptor >= 0 ? (descriptor, path) : nil
        }
    }

    /// Tries names that nobody else has; `make` leaves errno behind where it returns nil.
    private static func attempt<Made>(in folder: String, _ make: (String) -> Made?) throws(StreamError) -> Made {
        var failure: Int32 = EEXIST
        for _ in 0..<100 {
            if let made = make("\(folder)/.smime-\(String(UInt64.random(in: .min ... .max), radix: 36))") {
                return made
            }
            failure = errno
            guard failure == EEXIST else { break }
        }
        throw StreamError.cannotCreate(path: folder, code: failure)
    }

    #if os(Linux)
    /// O_TMPFILE, a macro too involved for Swift's importer.
    private static let unnamedFlag: Int32 = 0o20000000 | O_DIRECTORY
    #endif
}
