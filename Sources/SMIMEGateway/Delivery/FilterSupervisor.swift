#if os(Linux)
import Foundation
import ByteStreams

/// The process that a mail server starts: it keeps the message, lets a worker process handle it, and ends with the worker's status.
///
/// No record of a sent message may be lost, whatever ends the filter: the mail server's time limit, an administrator's mistake, a crash. So
/// the process that a mail server starts does none of the work. The worker is the same program under another name, and leaves the
/// supervisor's session for the few steps that have to be made together. If the worker dies by a fault, a second one rescues the message.
package struct FilterSupervisor {
    /// How the work came to its end.
    package enum Outcome: Equatable, Sendable {
        /// The worker ended with this status, one of 0, 65, 67 and 75, after it reported the result.
        case finished(Int32)
        /// The worker was ended before the message was sent.
        case interrupted
        /// The worker ended with this status before it began with the message.
        case notStarted(Int32)
    }

    /// Signals that another process sends on purpose. The mail waits then, since the message is not the cause.
    private static let requests = ChildProgram.endingSignals + [SIGKILL, SIGQUIT, SIGALRM]

    private let isAtTerminal: Bool
    /// The message, where standard input is no regular file.
    private let message: SpooledFile?
    /// The offset of the message in standard input, if that is a regular file.
    private let start: off_t
    private let arguments: SpooledFile
    /// The worker's standard error. The message of a crash must not come before ours.
    private let said: SpooledFile
    /// The pipe by which the worker reports its progress.
    private let progress: (reading: Int32, writing: Int32)

    /// Takes the message from standard input, to its end.
    ///
    /// - Parameters:
    ///   - arguments: the command line of this process, for the worker.
    ///   - isAtTerminal: whether standard error is a terminal.
    /// - Throws: `TransportError` if standard input is closed or cannot be read, or no more files can be opened.
    package init(arguments: [[UInt8]], isAtTerminal: Bool) throws(TransportError) {
        guard fcntl(STDIN_FILENO, F_GETFD) >= 0 else { throw TransportError("standard input is closed") }
        // Our files must not replace a closed stream; writing to such a stream fails, as before.
        for stream in [STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
        var status = stat()
        // A regular file is there for a second worker as it is.
        let isRegular = fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        do {
            message = isRegular ? nil : try SpooledFile(readingToEnd: STDIN_FILENO)
            self.arguments = try SpooledFile { try $0.write(FilterWorker.encode(arguments)) }
            said = try SpooledFile { _ in }
        } catch { throw TransportError("\(error)") }
        start = isRegular ? max(0, lseek(STDIN_FILENO, 0, SEEK_CUR)) : 0
        self.isAtTerminal = isAtTerminal
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else {
            throw TransportError("cannot make a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        progress = (ends[0], ends[1])
    }

    /// Runs a worker for the message, and a second one if the first one crashed.
    ///
    /// - Parameters:
    ///   - isRemembered: whether a journal records the recipients, so that a second worker may continue a delivery.
    ///   - secrets: additional environment variables of the workers.
    /// - Throws: `TransportError` if there can be no more processes.
    package func run(isRemembered: Bool, secrets: [SecretVariable]) throws(TransportError) -> Outcome {
        var rescuedFrom: Int32?
        while true {
            let ending = try work(rescuedFrom, secrets)
            let reached = readProgress()
            switch (ending, reached) {
            case (.exited(75), _): return .finished(75)
            // A success that is none of ours would lose the mail.
            case (.exited(let status), nil): return .notStarted(status)
            // A mail server may read any other status as an order to return the mail.
            case (.exited(let status), _): return .finished([0, 65, 67].contains(status) ? status : 75)
            case (.signalled(let signal), _) where Self.requests.contains(signal) || rescuedFrom != nil:
                return .interrupted
            case (.signalled, .sent): return .finished(0)
            case (.signalled, .sending) where !isRemembered: return .interrupted
            case (.signalled(let signal), .started), (.signalled(let signal), .sending): rescuedFrom = signal
            case (.signalled, nil): return .interrupted
            }
        }
    }

    /// Starts a worker and waits for its end.
    private func work(_ rescuedFrom: Int32?, _ secrets: [SecretVariable]) throws(TransportError) -> ChildProgram.Ending
    {
        lseek(message?.descriptor ?? STDIN_FILENO, start, SEEK_SET)
        ftruncate(said.descriptor, 0)
        lseek(said.descriptor, 0, SEEK_SET)
        let role = WorkerRole(
            supervisor: getpid(),
            progress: progress.writing,
            arguments: arguments.descriptor,
            isAtTerminal: isAtTerminal,
            rescuedFrom: rescuedFrom
        )
        // This very program, even if another one has taken its place on the disk by now.
        // For the instant before it begins the child still shows this process's command line: posix_spawn(3) shares the memory.
        var worker = ChildProgram(
            path: "/proc/self/exe",
            words: role.words,
            standardInput: message?.descriptor ?? STDIN_FILENO,
            standardOutput: STDOUT_FILENO
        )
        worker.standardError = said.descriptor
        // Under their own numbers, which differ from every descriptor that the command line names for a passphrase.
        worker.inherited = [role.progress, role.arguments]
        worker.secrets = secrets
        do throws(TransportError) { return try worker.run() } catch {
            throw TransportError(error.reason.replacing(worker.path, with: WorkerRole.program))
        }
    }

    /// How far the worker that ended had come; nil if it had not begun with the message.
    private func readProgress() -> WorkerProgress? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(progress.reading, &bytes, bytes.count)
        return count > 0 ? WorkerProgress(rawValue: bytes[count - 1]) : nil
    }

    /// Writes what the last worker said to standard error.
    package func passOnMessages() {
        guard let source = try? said.rewound() else { return }
        let sink = DescriptorSink(STDERR_FILENO)
        _ = try? source.reader().copy(to: sink)
        try? sink.flush()
    }
}
#endif
