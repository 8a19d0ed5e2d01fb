import ByteStreams
package import Foundation
package import LibCrypto

/// Keeps the key of a store in memory for a limited time, and gives it to programs of the same user.
///
/// The agent also ends if a program requests this, if its user has logged out, or if its socket is removed: along with the
/// runtime directory at logout, or because a newer agent has replaced it.
package struct KeyAgent: ~Copyable {
    private let kept: KeptKey
    private let path: String
    private let socket: Int32
    /// The inode of the socket, to distinguish it from a later socket with the same name.
    private let file: ino_t

    /// Listens on the socket `name`. Replaces the socket of an earlier agent: that agent was killed, or now ends.
    ///
    /// - Throws: `.cannotCreate`
    package init(_ kept: KeptKey, named name: String, in folder: RuntimeFolder) throws(KeystoreError) {
        self.kept = kept
        path = "\(folder.path)/\(name)"
        unlink(path)
        guard let socket = AgentSocket.listening(name, in: folder) else {
            throw KeystoreError.cannotCreate(path: path, code: errno)
        }
        self.socket = socket
        var status = stat()
        file = lstat(path, &status) == 0 ? status.st_ino : 0
    }

    deinit {
        close(socket)
        if Self.isThere(path, file) { unlink(path) }
    }

    /// Answers requests until the key must be wiped. Blocks this thread.
    ///
    /// - Parameters:
    ///   - interval: the milliseconds between checks whether the time is over, the user has logged out, or the socket was
    ///     removed.
    ///   - login: determines whether the user is logged in.
    ///   - now: the clock.
    package consuming func run(
        every interval: Int32 = 2000,
        login: LoginState = LoginState(),
        now: () -> ContinuousClock.Instant = { .now }
    ) {
        var login = login
        while Self.isThere(path, file), !kept.hasEnded(at: now()), !login.hasEnded() {
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, interval) > 0 else { continue }
            guard let peer = AgentSocket.accepted(from: socket) else { continue }
            let answer = answer(peer, now)
            close(peer)
            if answer == .gone { return }
        }
    }

    private borrowing func answer(_ peer: Int32, _ now: () -> ContinuousClock.Instant) -> KeptKey.Answer {
        var byte: UInt8 = 0
        let count = read(peer, &byte, 1)
        let answer = kept.answer(count == 1 ? byte : nil, from: AgentSocket.peer(of: peer), at: now())
        if answer == .key { kept.key.withBytes { _ = SystemCall.writeBytes(peer, $0) } }
        return answer
    }

    private static func isThere(_ path: String, _ file: ino_t) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_ino == file
    }
}

/// The key of a store in memory, for one user and a limited time. Decides how to answer a program's request; `KeyAgent`
/// handles the sockets.
package struct KeptKey: Sendable {
    /// A request of another program of the user, sent as one byte.
    package enum Request: UInt8, Sendable {
        /// To wipe the key.
        case forget = 0x66
        /// To send the key.
        case key = 0x6B
    }

    /// The answer to a request.
    package enum Answer: Equatable, Sendable {
        /// The program gets no key, and the key stays in memory.
        case refused
        /// The program gets no key, because the key is wiped: a program requested this, or the time is over.
        case gone
        /// The program gets the key.
        case key
    }

    package let key: LockedBytes
    /// The user to whom the key belongs.
    package let user: uid_t
    /// When the key is wiped. The clock also advances while the machine sleeps.
    package let end: ContinuousClock.Instant

    package init(_ key: LockedBytes, of user: uid_t, until end: ContinuousClock.Instant) {
        self.key = key
        self.user = user
        self.end = end
    }

    /// Whether the time of the key is over.
    package func hasEnded(at time: ContinuousClock.Instant) -> Bool { time >= end }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - byte: the request; nil if the program sent none.
    ///   - peer: the user of the requesting program, as the system reports it; nil if the system does not.
    package func answer(_ byte: UInt8?, from peer: uid_t?, at time: ContinuousClock.Instant) -> Answer {
        guard !hasEnded(at: time) else { return .gone }
        guard peer == user else { return .refused }
        return switch byte.flatMap(Request.init) {
        case .forget: .gone
        case .key: .key
        case nil: .refused
        }
    }
}
