import ByteStreams
package import Foundation
package import LibCrypto

/// Sends requests to the agents in the runtime directories of a user.
package struct KeyAgentClient: Equatable, Sendable {
    private static let prefix = "key-"

    /// The directory in which a new agent creates its socket.
    package let folder: RuntimeFolder
    /// Other directories that may have the socket of an agent that was started in another environment.
    private let others: [RuntimeFolder]
    private var folders: [RuntimeFolder] { [folder] + others }

    package init(_ folder: RuntimeFolder, others: [RuntimeFolder] = []) {
        self.folder = folder
        self.others = others.filter { $0 != folder }
    }

    /// The name of the socket for the store key that a passphrase seals as `wrapped`. A new passphrase or a new key changes
    /// the name.
    package static func name(of wrapped: [UInt8]) throws(OpenSSLError) -> String {
        let digest = try DigestAlgorithm.sha256.digest(wrapped).prefix(16)
        return prefix + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The key of the agent with the socket `name`; nil if no agent has it.
    package func key(_ name: String, count: Int) -> SecretBytes? {
        for folder in folders { if let key = key(name, count, in: folder) { return key } }
        return nil
    }

    private func key(_ name: String, _ count: Int, in folder: RuntimeFolder) -> SecretBytes? {
        guard let socket = request(.key, name, in: folder) else { return nil }
        defer { close(socket) }
        var total = 0
        let key = SecretBytes(count: count) { buffer in
            while total < count {
                var rest = buffer.piece(total..<count)
                let got = SystemCall.readBytes(socket, into: &rest)
                guard got > 0 else { return }
                total += got
            }
        }
        return total == count ? key : nil
    }

    /// Makes all agents wipe their keys, and end.
    ///
    /// - Returns: the number of agents, and whether all of them certainly wiped their keys.
    package func forgetAll() -> (count: Int, isSure: Bool) {
        var (count, isSure) = (0, true)
        for folder in folders {
            guard let names = folder.names() else {
                isSure = false
                continue
            }
            for name in names where name.hasPrefix(Self.prefix) {
                switch forget(name, in: folder) {
                case true: count += 1
                case false: isSure = false
                case nil: break
                }
            }
        }
        return (count, isSure)
    }

    /// Makes the agents with the socket `name` wipe their key, and end.
    ///
    /// - Returns: whether all of them did; nil if there is no agent.
    @discardableResult
    package func forget(_ name: String) -> Bool? {
        let answers = folders.compactMap { forget(name, in: $0) }
        return answers.isEmpty ? nil : answers.allSatisfy(\.self)
    }

    private func forget(_ name: String, in folder: RuntimeFolder) -> Bool? {
        guard let socket = request(.forget, name, in: folder) else {
            let code = errno
            // If an agent was killed, only the file of its socket is left.
            if code == ECONNREFUSED { folder.remove(name) }
            return [ECONNREFUSED, ENOENT].contains(code) ? nil : false
        }
        defer { close(socket) }
        // The agent closes the connection before it ends.
        var byte: UInt8 = 0
        return read(socket, &byte, 1) == 0
    }

    /// A connection over which `request` was sent; nil, with errno, if there is no agent.
    private func request(_ request: KeptKey.Request, _ name: String, in folder: RuntimeFolder) -> Int32? {
        guard let socket = AgentSocket.connected(name, in: folder) else { return nil }
        var byte = request.rawValue
        guard write(socket, &byte, 1) == 1 else {
            let code = errno
            close(socket)
            errno = code
            return nil
        }
        return socket
    }
}

/// The directory of a user's sockets. The system removes this directory at logout if it is in the user's runtime directory.
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
    /// - Returns: the descriptor, or nil with errno: `EACCES` if other users have access, or this user has none; `ENOENT`
    ///   if the path is missing, is not a directory, or belongs to another user but can be opened.
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

/// Whether a user is logged in, according to systemd-logind.
///
/// A process that remains after logout may keep the user's runtime directory in place: by default logind does not kill such
/// processes, and with lingering the directory always stays.
///
/// sd_uid_get_state(3)
package struct LoginState {
    /// The path of logind's file about the user. The file is possibly missing.
    private let path: String
    private var wasOn = false

    /// - Parameter folder: the directory of logind's files about users.
    package init(of user: uid_t = geteuid(), in folder: String = "/run/systemd/users") { path = "\(folder)/\(user)" }

    /// Whether the user was logged in at an earlier call, and is not logged in now.
    package mutating func hasEnded() -> Bool {
        if isOn { wasOn = true } else if wasOn { return true }
        return false
    }

    private var isOn: Bool {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        return text.split(separator: "\n").contains { ["STATE=active", "STATE=online"].contains($0) }
    }
}
