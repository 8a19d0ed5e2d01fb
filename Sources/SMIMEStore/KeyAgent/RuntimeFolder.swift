package import Foundation

/// The directory of a user's sockets, which goes at logout where the system has one for that.
///
/// XDG Base Directory Specification 0.8, `XDG_RUNTIME_DIR`
package struct RuntimeFolder: Equatable, Sendable {
    /// The directory; it may not exist.
    package let path: String

    package init(path: String) { self.path = path }

    /// `smime` in `XDG_RUNTIME_DIR`, or in /run/user/UID where a program was started without that variable; else /tmp/smime-UID, which
    /// no logout removes.
    package init(environment: [String: String], user: uid_t = geteuid()) {
        let folders = [environment["XDG_RUNTIME_DIR"], "/run/user/\(user)"].compactMap(\.self)
        let folder = folders.first { $0.hasPrefix("/") && Self.isPrivate($0, user) }
        self.init(path: folder.map { $0 + "/smime" } ?? "/tmp/smime-\(user)")
    }

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

    /// The directory, open, so that nothing else can take its place; nil if there is none that only this user can use.
    func opened() -> Int32? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Self.isPrivate(status, geteuid()) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func isPrivate(_ path: String, _ user: uid_t) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && isPrivate(status, user)
    }

    private static func isPrivate(_ status: stat, _ user: uid_t) -> Bool {
        status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user && status.st_mode & 0o077 == 0
    }
}
