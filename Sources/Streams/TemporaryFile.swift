import Foundation

/// Makes files that have no name, or not yet their own.
enum TemporaryFile {
    /// Opens an unlinked file for reading and writing, mode 0600, in `folder`.
    static func anonymous(in folder: String) throws(StreamError) -> Int32 {
        #if os(Linux)
        let unnamed = open(folder, unnamedFlag | O_RDWR | O_CLOEXEC, 0o600)
        if unnamed >= 0 { return unnamed }
        #endif
        let (descriptor, path) = try named(in: folder, mode: 0o600)
        unlink(path)
        return descriptor
    }

    /// Opens a new file with a name of its own in `folder`.
    static func named(in folder: String, mode: mode_t) throws(StreamError) -> (descriptor: Int32, path: String) {
        var failure: Int32 = EEXIST
        for _ in 0..<100 {
            let path = "\(folder)/.smime-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            if descriptor >= 0 { return (descriptor, path) }
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
