package import Foundation

/// The directory of a user's sockets. If the system has a directory for such files, it is removed at logout.
///
/// XDG Base Directory Specification 0.8, `XDG_RUNTIME_DIR`
package struct RuntimeFolder: Equatable, Sendable {
    /// The path of the directory. The directory is possibly missing.
    package let path: String

    package init(path: String) { self.path = path }

    /// The first of `candidates`.
    package init(environment: [String: String], user: uid_t = geteuid()) {
        let first = Self.candidates(environment: environment, user: user).first
        self = first ?? RuntimeFolder(path: Self.fallback(user))
    }

    /// The possible directories of the sockets of `user`: `smime` in `XDG_RUNTIME_DIR`; in /run/user/UID, for programs that
    /// were started without that variable; and finally /tmp/smime-UID, which is not removed at logout.
    package static func candidates(environment: [String: String], user: uid_t = geteuid()) -> [RuntimeFolder] {
        let folders = [environment["XDG_RUNTIME_DIR"], "/run/user/\(user)"].compactMap(\.self)
            .filter { $0.hasPrefix("/") && isPrivate($0, user) }
        var seen: Set<String> = []
        return (folders.map { $0 + "/smime" } + [fallback(user)]).filter { seen.insert($0).inserted }.map(Self.init)
    }

    private static func fallback(_ user: uid_t) -> String { "/tmp/smime-\(user)" }

    /// Creates the directory with mode 0700 under any umask, if it does not exist.
    ///
    /// - Throws: `.cannotCreate`; `.permissions` if the directory is accessible to other users, belongs to another user, or
    ///   is a symlink.
    package func create() throws(KeystoreError) {
        if mkdir(path, 0o700) == 0 {
            chmod(path, 0o700)
        } else if errno != EEXIST {
            throw KeystoreError.cannotCreate(path: path, code: errno)
        }
        guard Self.isPrivate(path, geteuid()) else {
            throw KeystoreError.permissions(path: path, why: "is not a directory that only you can use")
        }
    }

    /// Opens the directory, so that it cannot be replaced while in use.
    ///
    /// - Returns: the descriptor, or nil with errno: `EACCES` if other users have access; `ENOENT` if the path is missing,
    ///   is not a directory, or belongs to another user.
    func opened() -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            // A file or a symlink at the path counts as a missing directory.
            if [ELOOP, ENOTDIR].contains(errno) { errno = ENOENT }
            return nil
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Self.isPrivate(status, geteuid()) else {
            close(descriptor)
            errno = status.st_uid == geteuid() ? EACCES : ENOENT
            return nil
        }
        return descriptor
    }

    /// The names of the files in the directory.
    ///
    /// - Returns: nil if the directory cannot be read; empty if it does not exist.
    func names() -> [String]? {
        guard let descriptor = opened() else { return errno == ENOENT ? [] : nil }
        defer { close(descriptor) }
        #if os(Linux)
        return try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd/\(descriptor)/")
        #else
        return try? FileManager.default.contentsOfDirectory(atPath: path)
        #endif
    }

    /// Removes a file in the directory.
    func remove(_ name: String) {
        guard let descriptor = opened() else { return }
        unlinkat(descriptor, name, 0)
        close(descriptor)
    }

    private static func isPrivate(_ path: String, _ user: uid_t) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && isPrivate(status, user)
    }

    private static func isPrivate(_ status: stat, _ user: uid_t) -> Bool {
        status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user && status.st_mode & 0o077 == 0
    }
}
