package import Foundation

/// The directory of a user's sockets, which goes at logout where the system has one for that.
///
/// XDG Base Directory Specification 0.8, `XDG_RUNTIME_DIR`
package struct RuntimeFolder: Equatable, Sendable {
    /// The directory; it may not exist.
    package let path: String

    package init(path: String) { self.path = path }

    /// The first of `candidates`.
    package init(environment: [String: String], user: uid_t = geteuid()) {
        let first = Self.candidates(environment: environment, user: user).first
        self = first ?? RuntimeFolder(path: Self.fallback(user))
    }

    /// Where sockets of `user` may be: `smime` in `XDG_RUNTIME_DIR`, and in /run/user/UID for programs that were started without that
    /// variable; last /tmp/smime-UID, which no logout removes.
    package static func candidates(environment: [String: String], user: uid_t = geteuid()) -> [RuntimeFolder] {
        let folders = [environment["XDG_RUNTIME_DIR"], "/run/user/\(user)"].compactMap(\.self)
            .filter { $0.hasPrefix("/") && isPrivate($0, user) }
        var seen: Set<String> = []
        return (folders.map { $0 + "/smime" } + [fallback(user)]).filter { seen.insert($0).inserted }.map(Self.init)
    }

    private static func fallback(_ user: uid_t) -> String { "/tmp/smime-\(user)" }

    /// Makes the directory, with mode 0700 under any umask, unless it is there.
    ///
    /// - Throws: `.cannotCreate`; `.permissions` if it is open to others, owned by another, or a symlink.
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

    /// The directory, open, so that nothing else can take its place.
    ///
    /// - Returns: nil, with errno, if there is none that only this user can use: ENOENT if none is this user's, EACCES if others can
    ///   use it, too.
    func opened() -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            // A file or a symlink in its place is no directory of ours.
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

    /// The names of the files in it.
    ///
    /// - Returns: nil if it cannot be read; none if it is not there.
    func names() -> [String]? {
        guard let descriptor = opened() else { return errno == ENOENT ? [] : nil }
        defer { close(descriptor) }
        #if os(Linux)
        return try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd/\(descriptor)/")
        #else
        return try? FileManager.default.contentsOfDirectory(atPath: path)
        #endif
    }

    /// Removes a file in it.
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
