import ByteStreams
package import Foundation
import LibCrypto
import Synchronization

/// The process that handles a message for a `FilterSupervisor`. `WorkerRole` describes its command line.
package struct FilterWorker: Sendable {
    /// The role given on this process's command line.
    package let role: WorkerRole
    /// The command line of the supervisor, including the name of the program. The bytes need not be valid UTF-8.
    package let arguments: [[UInt8]]

    private static let started = Mutex<FilterWorker?>(nil)

    /// The worker that this process is; nil if this process is not a worker.
    package static var current: FilterWorker? { started.withLock { $0 } }

    /// Makes this process a worker if `words`, its command line, begin with `WorkerRole.program`. Call this before any
    /// other code reads the command line.
    ///
    /// - Throws: `TransportError` if the process was not started by a supervisor, if the supervisor has ended, or if
    ///   the supervisor's command line cannot be read. On systems other than Linux, always for such words.
    package static func begin(_ words: [String]) throws(TransportError) {
        guard words.first == WorkerRole.program else { return }
        #if os(Linux)
        guard let role = WorkerRole(words), isGiven(role) else {
            throw TransportError(
                "\(WorkerRole.program) is a part of 'smime filter', and only 'smime filter' can start it"
            )
        }
        // The name for ps(1) and top(1). Without it the system would show `exe`.
        ProcessName.set(WorkerRole.program)
        // A signal that ends the supervisor at the time limit must also end the worker, unless the worker has begun to
        // deliver.
        guard ParentProcess.requestSignal(SIGTERM, atEndOf: role.supervisor) else {
            throw TransportError("the filter was ended")
        }
        for descriptor in [role.progress, role.arguments] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let worker = FilterWorker(role: role, arguments: try readArguments(role.arguments))
        started.withLock { $0 = worker }
        #else
        throw TransportError("there are no workers on this system")
        #endif
    }

    /// Whether the descriptors have the types that a supervisor passes.
    private static func isGiven(_ role: WorkerRole) -> Bool {
        var (pipe, file) = (stat(), stat())
        return role.progress > STDERR_FILENO && role.arguments > STDERR_FILENO
            && fstat(role.progress, &pipe) == 0 && pipe.st_mode & S_IFMT == S_IFIFO
            && fstat(role.arguments, &file) == 0 && file.st_mode & S_IFMT == S_IFREG && file.st_nlink == 0
    }

    /// Reads the arguments that `FilterSupervisor` wrote, and closes the file.
    private static func readArguments(_ descriptor: Int32) throws(TransportError) -> [[UInt8]] {
        do {
            let source = try SpooledFile(adopting: descriptor).rewound()
            return decode(try source.bytes(in: 0..<source.count))
        } catch { throw TransportError("cannot read the arguments: \(error)") }
    }

    /// A command line as a single byte string. Each argument is followed by a zero byte, which no argument can contain.
    package static func encode(_ arguments: [[UInt8]]) -> [UInt8] { Array(arguments.map { $0 + [0] }.joined()) }

    /// The arguments in a byte string that `encode` returned.
    package static func decode(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
    }
}

extension FilterWorker {
    /// The signal that killed the worker before this process; nil in a first worker and outside of workers.
    package static var rescuedFrom: Int32? { current?.role.rescuedFrom }

    /// Lets this process continue after the supervisor ends, or after SIGHUP, SIGINT or SIGTERM, so that it can finish a
    /// delivery.
    ///
    /// - Throws: `TransportError` if the supervisor has ended: the mail server will try again, or has already started to.
    package static func detach() throws(TransportError) {
        guard let worker = current else { return }
        setsid()
        for number in ChildProgram.endingSignals { signal(number, SIG_IGN) }
        guard getppid() == worker.role.supervisor else { throw TransportError("the filter was ended") }
    }

    /// Reports to the supervisor that this process starts to handle the message.
    package static func noteStarted() { note(.started) }

    /// Reports to the supervisor that sending begins.
    package static func noteSending() { note(.sending) }

    /// Reports to the supervisor that all messages are sent. A later failure does not change that the mail was delivered.
    package static func noteSent() { note(.sent) }

    private static func note(_ step: WorkerProgress) {
        guard let worker = current else { return }
        var byte = step.rawValue
        // If the supervisor has ended, the failure to write does not matter.
        _ = write(worker.role.progress, &byte, 1)
    }
}

/// The role of a worker process on its command line, with the values that its supervisor passes.
///
/// The arguments are `smime-delivery worker|rescue SUPERVISOR PROGRESS ARGUMENTS terminal|log [SIGNAL]`. They do not
/// include those of the command, so that `pkill -f 'smime filter'` finds only the supervisor, and no worker that is
/// delivering.
package struct WorkerRole: Equatable, Sendable {
    /// The first word of a worker's command line.
    package static let program = "smime-delivery"

    /// The process ID of the supervisor.
    package let supervisor: pid_t
    /// The descriptor of the pipe into which the worker writes its `WorkerProgress`.
    package let progress: Int32
    /// The descriptor of the file with the arguments of the command.
    package let arguments: Int32
    /// Whether the supervisor's standard error is a terminal. The worker's standard error is always a file.
    package let isAtTerminal: Bool
    /// The signal that killed the worker before this one; nil for the first worker.
    package let rescuedFrom: Int32?

    package init(
        supervisor: pid_t,
        progress: Int32,
        arguments: Int32,
        isAtTerminal: Bool,
        rescuedFrom: Int32? = nil
    ) {
        self.supervisor = supervisor
        self.progress = progress
        self.arguments = arguments
        self.isAtTerminal = isAtTerminal
        self.rescuedFrom = rescuedFrom
    }

    /// Reads the arguments of a process, the first of which is `program`; nil if the process is not a worker.
    package init?(_ words: [String]) {
        guard words.count >= 6 else { return nil }
        let numbers = (words[2...4] + words.dropFirst(6)).compactMap { Int32($0) }
        guard numbers.count >= 3 else { return nil }
        self.init(
            supervisor: numbers[0],
            progress: numbers[1],
            arguments: numbers[2],
            isAtTerminal: words[5] == "terminal",
            rescuedFrom: numbers.dropFirst(3).first
        )
        guard self.words == words else { return nil }
    }

    /// The whole command line of the worker.
    package var words: [String] {
        let kind = rescuedFrom == nil ? "worker" : "rescue"
        let words = [
            Self.program, kind, "\(supervisor)", "\(progress)", "\(arguments)", isAtTerminal ? "terminal" : "log",
        ]
        return words + (rescuedFrom.map { ["\($0)"] } ?? [])
    }
}

/// The progress that a worker reports to its supervisor: one byte for each step.
enum WorkerProgress: UInt8 {
    /// The worker starts to handle the message. If it crashes after this, the message may be the cause.
    case started = 1
    /// Sending begins.
    case sending = 2
    /// All messages are sent.
    case sent = 3
}
