import CSpawn

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs a program with limits on its time and on the size of its output. The type is in this module because two independent
/// modules use it.
///
/// The program gets an empty standard input, no descriptors besides the three standard ones, an environment of only
/// `PATH=/usr/bin:/bin` and `LC_ALL=C.UTF-8`, the working directory `/`, and its own process group. When the program ends, the
/// other processes of the group are killed.
package struct BoundedProgram: Sendable {
    /// Why there is no output.
    package enum Failure: Error, Equatable {
        case notStarted(code: Int32)
        case timeLimit
        case printsTooMuch
        /// A signal ended the program.
        case signalled(Int32)
        /// The system did not report how the program ended.
        case lost
    }

    private static let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"]

    private let path: String
    private let arguments: [String]
    private let maximumCount: Int
    private let showsErrors: Bool

    /// - Parameters:
    ///   - path: the absolute path of the program's file.
    ///   - maximumCount: the maximum size of the program's output in bytes.
    ///   - showsErrors: whether the program shares the standard error of this process; otherwise its error output is
    ///     discarded.
    package init(_ path: String, _ arguments: [String] = [], maximumCount: Int, showsErrors: Bool = false) {
        (self.path, self.arguments) = (path, arguments)
        (self.maximumCount, self.showsErrors) = (maximumCount, showsErrors)
    }

    /// Runs the program and blocks the calling thread until the program ends or is killed at `deadline`.
    ///
    /// - Returns: the program's exit status and output. If the output is secret, the caller must wipe it.
    package func run(until deadline: ContinuousClock.Instant) throws(Failure) -> (status: Int32, output: [UInt8]) {
        let (child, stream) = try start(until: deadline)
        defer { close(stream) }
        var output = ProgramOutput(maximumCount)
        defer { output.wipe() }
        var isOpen = true
        while isOpen || !child.hasEnded {
            guard ContinuousClock.now < deadline else {
                child.kill()
                throw .timeLimit
            }
            // A child process of the program may still run and keep the pipe open.
            let hadEnded = child.hasEnded
            let isReadable = isOpen && Self.wait(for: stream)
            if isReadable { isOpen = output.read(stream) }
            if !isReadable, hadEnded { break }
            if !isOpen { usleep(1000) }
            guard !output.isTooLong else {
                child.kill()
                throw .printsTooMuch
            }
        }
        switch child.kill() {
        case .exited(let status): return (status, output.take())
        case .signalled(let signal): throw .signalled(signal)
        case nil: throw .lost
        }
    }

    /// Waits up to 50 ms for output or for its end. Returns whether output or the end arrived.
    private static func wait(for stream: Int32) -> Bool {
        var entry = pollfd(fd: stream, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 50) > 0
    }

    private func start(until deadline: ContinuousClock.Instant) throws(Failure) -> (ProgramChild, Int32) {
        var ends: [Int32] = [-1, -1]
        guard Self.openPipe(&ends) == 0 else { throw .notStarted(code: errno) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        if !showsErrors || fcntl(2, F_GETFD) < 0 {
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        #if os(Linux)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        #endif
        posix_spawn_file_actions_addchdir_np(&actions, "/")
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setAttributes(&attributes)
        let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] = Self.environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier = pid_t()
        var code = posix_spawn(&identifier, path, &actions, &attributes, words, variables)
        // Another process still has the file open for writing, so this tries again.
        while code == ETXTBSY, ContinuousClock.now < deadline {
            usleep(10_000)
            code = posix_spawn(&identifier, path, &actions, &attributes, words, variables)
        }
        guard code == 0 else {
            close(ends[0])
            throw .notStarted(code: code)
        }
        return (ProgramChild(identifier: identifier), ends[0])
    }

    /// Opens a pipe that other programs do not inherit.
    private static func openPipe(_ ends: inout [Int32]) -> Int32 {
        #if os(Linux)
        return pipe2(&ends, O_CLOEXEC)
        #else
        let code = pipe(&ends)
        for end in ends where code == 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return code
        #endif
    }

    /// Puts the program in its own process group and resets its signals.
    private func setAttributes(_ attributes: inout posix_spawnattr_t) {
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
        // If errors are shown, this flag is left out, so that the program inherits standard error.
        let closes = showsErrors ? 0 : Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        posix_spawnattr_setflags(&attributes, Int16(flags | closes))
        #else
        posix_spawnattr_setflags(&attributes, Int16(flags))
        #endif
    }
}

/// The output of a program. The bytes never move in memory, because a move would leave copies of a possible secret.
private struct ProgramOutput {
    private(set) var bytes: [UInt8] = []
    private let maximumCount: Int
    private var part = [UInt8](repeating: 0, count: 16_384)

    init(_ maximumCount: Int) {
        self.maximumCount = maximumCount
        bytes.reserveCapacity(maximumCount + part.count)
    }

    var isTooLong: Bool { bytes.count > maximumCount }

    /// Reads from the pipe once; returns false at the end of the output.
    mutating func read(_ stream: Int32) -> Bool {
        #if canImport(Glibc)
        let count = Glibc.read(stream, &part, part.count)
        #elseif canImport(Musl)
        let count = Musl.read(stream, &part, part.count)
        #else
        let count = Darwin.read(stream, &part, part.count)
        #endif
        guard count > 0 else { return count < 0 && errno == EINTR }
        bytes += part.prefix(count)
        return true
    }

    /// The bytes, which the caller must wipe. Afterwards this value no longer has them.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    mutating func wipe() {
        part.wipe()
        bytes.wipe()
    }
}

/// A program running in its own process group.
private struct ProgramChild {
    /// How the program ended.
    enum Ending {
        case exited(Int32)
        case signalled(Int32)
    }

    let identifier: pid_t

    /// Whether the program has ended. The program is not reaped here, so that no other process group can get its number.
    var hasEnded: Bool {
        var information = siginfo_t()
        let code = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG)
        return code != 0 || information.si_signo == SIGCHLD
    }

    /// Kills the program and its process group, and returns how the program ended; nil if that is unknown.
    @discardableResult
    func kill() -> Ending? {
        #if canImport(Glibc)
        _ = Glibc.kill(-identifier, SIGKILL)
        #elseif canImport(Musl)
        _ = Musl.kill(-identifier, SIGKILL)
        #else
        _ = Darwin.kill(-identifier, SIGKILL)
        #endif
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }
}
