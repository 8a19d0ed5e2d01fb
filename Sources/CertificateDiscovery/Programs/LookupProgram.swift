import CSpawn
import Foundation

/// A program that prints the certificates of one address.
///
/// It gets the address as its only argument, an empty standard input, no other descriptor, `PATH=/usr/bin:/bin` and `LC_ALL=C.UTF-8`, and
/// a process group of its own. Its standard error is discarded.
package struct LookupProgram: Sendable {
    /// The most bytes that it may print.
    package static let maximumOutput = 1 << 18

    /// What it says by its exit status.
    private enum Status {
        static let found: Int32 = 0
        static let none: Int32 = 1
        static let tryLater: Int32 = 75
    }

    private static let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"]

    /// The whole path of its file.
    package let path: String

    package init(path: String) { self.path = path }

    /// What the program prints about `address`; nil if it says that there is none, by status 1.
    ///
    /// - Throws: `DiscoveryOutage` if it cannot be run, takes too long, prints too much, or ends with another status.
    package func output(
        about address: String,
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> [UInt8]? {
        let (child, stream) = try start(address)
        defer { close(stream) }
        var output: [UInt8] = []
        var isOpen = true
        while isOpen || !child.hasEnded {
            guard ContinuousClock.now < deadline else {
                child.kill()
                throw .timeLimit
            }
            // What it has left running may keep the pipe open.
            let hadEnded = child.hasEnded
            let isReadable = isOpen && Self.wait(for: stream)
            if isReadable { isOpen = Self.read(stream, into: &output) }
            if !isReadable, hadEnded { break }
            if !isOpen { usleep(1000) }
            guard output.count <= Self.maximumOutput else {
                child.kill()
                throw DiscoveryOutage("the program prints too much")
            }
        }
        switch child.kill() {
        case .exited(Status.found): return output
        case .exited(Status.none): return nil
        case .exited(Status.tryLater): throw DiscoveryOutage("the program says: try later")
        case .exited(let status): throw DiscoveryOutage("the program ended with status \(status)")
        case .signalled(let signal): throw DiscoveryOutage("the program was ended by signal \(signal)")
        case nil: throw DiscoveryOutage("the program was lost")
        }
    }

    /// Whether there is something to read, or the end, within a twentieth of a second.
    private static func wait(for stream: Int32) -> Bool {
        var entry = pollfd(fd: stream, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 50) > 0
    }

    /// Reads once; false at the end.
    private static func read(_ stream: Int32, into output: inout [UInt8]) -> Bool {
        var part = [UInt8](repeating: 0, count: 16384)
        let count = Foundation.read(stream, &part, part.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        output += part.prefix(count)
        return true
    }

    private func start(_ address: String) throws(DiscoveryOutage) -> (ProgramChild, Int32) {
        var ends: [Int32] = [-1, -1]
        guard Self.openPipe(&ends) == 0 else { throw Self.failure(errno) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        #if os(Linux)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        #endif
        posix_spawn_file_actions_addchdir_np(&actions, "/")
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.setAttributes(&attributes)
        let words: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup(address), nil]
        let variables: [UnsafeMutablePointer<CChar>?] = Self.environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier = pid_t()
        let code = posix_spawn(&identifier, path, &actions, &attributes, words, variables)
        guard code == 0 else {
            close(ends[0])
            throw Self.failure(code)
        }
        return (ProgramChild(identifier: identifier), ends[0])
    }

    /// A pipe that no other program inherits.
    private static func openPipe(_ ends: inout [Int32]) -> Int32 {
        #if os(Linux)
        return pipe2(&ends, O_CLOEXEC)
        #else
        let code = pipe(&ends)
        for end in ends where code == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return code
        #endif
    }

    /// A group of its own, and the usual meaning of signals.
    private static func setAttributes(_ attributes: inout posix_spawnattr_t) {
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGTERM, SIGCHLD] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        #if canImport(Darwin)
        posix_spawnattr_setflags(&attributes, Int16(flags | Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)))
        #else
        posix_spawnattr_setflags(&attributes, Int16(flags))
        #endif
    }

    private static func failure(_ code: Int32) -> DiscoveryOutage {
        DiscoveryOutage("the program cannot be started: \(String(cString: strerror(code)))")
    }
}

/// A program that runs in a process group of its own.
private struct ProgramChild {
    /// How it ended.
    enum Ending {
        case exited(Int32)
        case signalled(Int32)
    }

    let identifier: pid_t

    /// Whether it has ended; it is not waited for, so that its group keeps its number.
    var hasEnded: Bool {
        var information = siginfo_t()
        let code = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG)
        return code != 0 || information.si_signo == SIGCHLD
    }

    /// Ends it with everything that it has started, and says how it ended; nil if that cannot be known.
    @discardableResult
    func kill() -> Ending? {
        Foundation.kill(-identifier, SIGKILL)
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }
}
