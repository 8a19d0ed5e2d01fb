import ByteStreams
import Foundation

/// The directories and files of a store on disk. They are created private, and rejected if other users have access.
struct StoreFolder {
    let location: StoreLocation

    /// Whether the store exists, that is, its database exists.
    ///
    /// - Throws: `.permissions` if a file or directory of the store is accessible to other users, belongs to another user,
    ///   or is a symlink; `.cannotOpen` if this cannot be determined.
    func exists() throws(KeystoreError) -> Bool {
        guard try inspect(location.database, isFolder: false) else { return false }
        for (path, isFolder) in everything { try inspect(path, isFolder: isFolder) }
        return true
    }

    /// Whether a store in this place has served mail. The lock file of deliveries shows this even if the database is lost.
    func hasServedMail() throws(KeystoreError) -> Bool { try inspect(location.deliveryLockFile, isFolder: false) }

    /// Creates the directories with mode 0700 under any umask. An existing directory of this user is made private if it is
    /// empty; otherwise it is rejected unless it is private.
    func create() throws(KeystoreError) {
        for folder in folders {
            if try makeFolder(folder) { continue }
            if isEmpty(folder), isOurs(folder) { chmod(folder, 0o700) }
            try inspect(folder, isFolder: true)
        }
    }

    /// Writes a new file completely or not at all, with mode 0600 under any umask.
    func createFile(_ path: String, holding bytes: [UInt8]) throws(KeystoreError) {
        let temporary = path + ".new"
        unlink(temporary)
        let descriptor = try Self.createPrivate(temporary)
        defer { close(descriptor) }
        errno = 0
        let written = SystemCall.writeBytes(descriptor, bytes.octets)
        guard written == bytes.count, fsync(descriptor) == 0 else {
            let reason = errno == 0 ? "short write" : String(cString: strerror(errno))
            unlink(temporary)
            throw KeystoreError.writeFailed(path: path, reason: reason)
        }
        try rename(temporary, to: path)
    }

    /// Renames a complete file to its final name, durably.
    func rename(_ temporary: String, to path: String) throws(KeystoreError) {
        guard Foundation.rename(temporary, path) == 0 else {
            throw KeystoreError.cannotCreate(path: path, code: errno)
        }
        let folder = open(URL(filePath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Creates a file for writing, with mode 0600 under any umask. The file must not exist yet.
    static func createPrivate(_ path: String) throws(KeystoreError) -> Int32 {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw KeystoreError.cannotCreate(path: path, code: errno) }
        guard fchmod(descriptor, 0o600) == 0 else {
            let code = errno
            close(descriptor)
            unlink(path)
            throw KeystoreError.cannotCreate(path: path, code: code)
        }
        return descriptor
    }

    /// Writes a file to the disk, so that it survives a power failure.
    static func synchronize(_ path: String) throws(KeystoreError) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw KeystoreError.writeFailed(path: path, reason: String(cString: strerror(errno)))
        }
        defer { Foundation.close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw KeystoreError.writeFailed(path: path, reason: String(cString: strerror(errno)))
        }
    }

    /// All directories and files of a store, the directories first.
    var everything: [(path: String, isFolder: Bool)] {
        folders.map { ($0, true) } + location.files.map { ($0, false) }
    }

    private var folders: [String] { [location.home, location.dataFolder, location.keyFolder].compactMap(\.self) }

    /// Checks a directory or file of the store. Returns whether it exists.
    @discardableResult
    func inspect(_ path: String, isFolder: Bool) throws(KeystoreError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            switch errno {
            case ENOENT: return false
            case EACCES: throw KeystoreError.permissions(path: path, why: String(cString: strerror(EACCES)))
            default: throw KeystoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
            }
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFLNK else { throw KeystoreError.permissions(path: path, why: "is a symbolic link") }
        guard kind == (isFolder ? S_IFDIR : S_IFREG) else {
            throw KeystoreError.permissions(path: path, why: isFolder ? "is not a directory" : "is not a regular file")
        }
        guard status.st_uid == geteuid() else {
            throw KeystoreError.permissions(path: path, why: "belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw KeystoreError.permissions(
                path: path,
                why: "is open to others (mode \(mode), wanted \(isFolder ? "700" : "600"))"
            )
        }
        return true
    }

    /// Creates a directory and its parent directories. Returns false if the directory already exists.
    private func makeFolder(_ path: String) throws(KeystoreError) -> Bool {
        if mkdir(path, 0o700) == 0 {
            chmod(path, 0o700)
            return true
        }
        if errno == EEXIST { return false }
        guard errno == ENOENT, path.count > 1 else { throw KeystoreError.cannotCreate(path: path, code: errno) }
        _ = try makeFolder(URL(filePath: path).deletingLastPathComponent().path)
        guard mkdir(path, 0o700) == 0 else {
            guard errno == EEXIST else { throw KeystoreError.cannotCreate(path: path, code: errno) }
            return false
        }
        chmod(path, 0o700)
        return true
    }

    private func isOurs(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    private func isEmpty(_ path: String) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty ?? false
    }
}

extension Date {
    /// The time in a form for names of files, such as `20261127T051500Z`.
    var fileStamp: String { formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)) }
}
