package import Foundation

/// A program to run as a child process, with the given descriptors as its standard streams.
///
/// The arguments are passed unchanged, without a shell.
package struct ChildProgram {
    /// The path of the program's file, which may differ from the first argument.
    package let path: String
    /// The arguments, the first of which is the program's name.
    package let words: [String]
    /// The descriptor for standard input; a negative number means /dev/null, as for the other standard streams.
    package var standardInput: Int32 = -1
    /// The descriptor for standard output, and for standard error if `standardError` is nil.
    package var standardOutput: Int32 = -1
    /// The descriptor for standard error; nil if it is that of standard output.
    package var standardError: Int32?
    /// The descriptors that the program inherits in addition to the standard streams, with unchanged numbers. The numbers
    /// must be higher than those of the standard streams.
    package var inherited: [Int32] = []
    /// Environment variables for the program in addition to those of this process.
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

        /// Waits for a child of this process to end; nil, with errno, if this is not possible.
        init?(of identifier: pid_t) {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0 {
                guard errno == EINTR else { return nil }
            }
            let signal = status & 0x7F
            self = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        }
    }

    /// Starts the program and waits for it to end.
    ///
    /// - Throws: `TransportError` if the program cannot be started, or if its end cannot be determined.
    package func run() throws(TransportError) -> Ending {
        let identifier = try start()
        guard let ending = Ending(of: identifier) else {
            throw TransportError("\(path): cannot wait for its end: \(String(cString: strerror(errno)))")
        }
        return ending
    }

    /// Starts the program without waiting. The caller must wait for the child.
    ///
    /// - Throws: `TransportError` if the program cannot be started.
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
        // Each descriptor is duplicated to its own number, which clears its close-on-exec flag only in the child.
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

    /// Prevents libdispatch from writing to the system's log. libdispatch reads this variable before it writes its first
    /// line.
    package static let dispatchLog = (name: "LIBDISPATCH_LOG", value: "NO")

    /// Restores the default signal settings in the child, which must not inherit those of this process.
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

    /// The signals that request a process to end.
    static let endingSignals = [SIGHUP, SIGINT, SIGTERM]
}
