package import Foundation

/// A program that is started with given descriptors as its streams, and waited for.
///
/// Its arguments are passed as they are, without a shell.
package struct ChildProgram {
    /// The program's file, which may differ from its first argument.
    package let path: String
    package let words: [String]
    package var standardInput: Int32 = -1
    /// For standard error, too, unless that has one of its own.
    package var standardOutput: Int32 = -1
    /// Nil for that of standard output.
    package var standardError: Int32?
    /// The file descriptors that the program inherits in addition to the streams, under the same numbers. All are
    /// higher than those of the streams.
    package var inherited: [Int32] = []
    /// Environment variables of the program in addition to ours.
    package var secrets: [SecretVariable] = []

    package init(
        path: String,
        words: [String],
        standardInput: Int32 = -1,
        standardOutput: Int32 = -1
    ) {
        self.path = path
        self.words = words
        self.standardInput = standardInput
        self.standardOutput = standardOutput
    }

    /// How a program ended.
    package enum Ending: Equatable {
        case exited(Int32)
        case signalled(Int32)

        /// Waits for the end of a child of this process; nil, with errno, if it cannot be waited for.
        init?(of identifier: pid_t) {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 {
                guard errno == EINTR else { return nil }
            }
            let signal = status & 0x7F
            self = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        }
    }

    /// Starts the program and waits for its end.
    ///
    /// - Throws: `TransportError` if it cannot be started.
    package func run() throws(TransportError) -> Ending {
        let identifier = try start()
        guard let ending = Ending(of: identifier) else {
            throw TransportError("\(path): lost: \(String(cString: strerror(errno)))")
        }
        return ending
    }

    /// Starts the program without waiting; the caller waits for the child.
    ///
    /// - Throws: `TransportError` if it cannot be started.
    package func start() throws(TransportError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let streams =
            [(0, standardInput), (1, standardOutput), (2, standardError ?? standardOutput)] as [(Int32, Int32)]
        for (stream, descriptor) in streams {
            if descriptor >= 0 {
                posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
            } else {
                posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", stream == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        // Duplicated to its own number, which clears its close-on-exec flag for this program alone.
        for descriptor in inherited { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.resetSignals(&attributes)

        var identifier = pid_t()
        let words = words.map { strdup($0) }
        defer { for word in words { free(word) } }
        let code = SecretVariable.withEntries(of: secrets[...]) { entries in
            posix_spawn(&identifier, path, &actions, &attributes, words + [nil], Self.environment + entries + [nil])
        }
        guard code == 0 else { throw TransportError("\(path): cannot be started: \(String(cString: strerror(code)))") }
        return identifier
    }

    /// Prevents libdispatch from writing to the system's log; it reads this variable before its first line.
    package static let dispatchLog = (name: "LIBDISPATCH_LOG", value: "NO")

    /// Children must not inherit our signal settings.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGPIPE, SIGXFSZ] + endingSignals { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    }

    /// By which a process is asked to end.
    static let endingSignals = [SIGHUP, SIGINT, SIGTERM]
}
