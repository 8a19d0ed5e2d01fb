#if os(Linux)
import Foundation
import ByteStreams

/// The process that a mail server starts. It stores the message in a file (unless standard input is a file already),
/// lets a worker process handle the message, and exits with the worker's status.
///
/// No record of a sent message may be lost, whatever ends the filter: the mail server's time limit, an administrator's
/// mistake, or a crash. So the process that a mail server starts does none of the work. The worker is the same program
/// under another name. While it delivers, it leaves the supervisor's session, so that it can finish. If the worker crashes,
/// a second worker rescues the message.
package struct FilterSupervisor {
    /// How the work ended.
    package enum Outcome: Equatable, Sendable {
        /// The status for the mail server: 0, 65, 67 or 75. The worker reported the reason, or was killed after it had
        /// sent everything.
        case finished(Int32)
        /// The worker was killed, and either no second worker was started, or the second worker was killed as well.
        /// Some messages may have been sent.
        case interrupted
        /// The worker exited with this status before it started to handle the message.
        case notStarted(Int32)
    }

    /// Signals that other processes send on purpose. After such a signal the mail is deferred, since the message is not the
    /// cause.
    private static let requests = ChildProgram.endingSignals + [SIGKILL, SIGQUIT, SIGALRM]

    private let isAtTerminal: Bool
    /// The copy of the message; nil if standard input is a regular file.
    private let message: SpooledFile?
    /// The offset of the message in standard input; 0 if that is not a regular file.
    private let start: off_t
    private let arguments: SpooledFile
    /// The worker's standard error, stored so that a crash message does not precede the supervisor's messages.
    private let workerErrors: SpooledFile
    /// The pipe through which the worker reports its progress.
    private let progress: (reading: Int32, writing: Int32)

    /// Reads the message from standard input to its end, unless standard input is a regular file.
    ///
    /// - Parameters:
    ///   - arguments: the command line of this process, for the worker.
    ///   - isAtTerminal: whether standard error is a terminal.
    /// - Throws: `TransportError` if standard input is closed or cannot be read, the copy of the message or another temporary
    ///   file cannot be written, or no more files can be opened.
    package init(arguments: [[UInt8]], isAtTerminal: Bool) throws(TransportError) {
        guard fcntl(STDIN_FILENO, F_GETFD) >= 0 else { throw TransportError("standard input is closed") }
        // This prevents files of the supervisor from getting the descriptor of a closed stream. Writing to such a stream
        // still fails.
        for stream in [STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
        var status = stat()
        // A regular file needs no copy: a second worker can read it again.
        let isRegular = fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        do {
            message = isRegular ? nil : try SpooledFile(readingToEnd: STDIN_FILENO)
            self.arguments = try SpooledFile { try $0.write(FilterWorker.encode(arguments)) }
            workerErrors = try SpooledFile { _ in }
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

    /// Runs a worker for the message, and a second worker if the first one crashed.
    ///
    /// - Parameters:
    ///   - isJournaled: whether a journal records the recipients, so that a second worker can continue a delivery.
    ///   - secrets: additional environment variables of the workers.
    /// - Throws: `TransportError` if no more processes can be started.
    package func run(isJournaled: Bool, secrets: [SecretVariable]) throws(TransportError) -> Outcome {
        var rescuedFrom: Int32?
        while true {
            let ending = try work(rescuedFrom, secrets)
            let reached = readProgress()
            switch (ending, reached) {
            // Another attempt would send the mail again.
            case (.signalled, .sent): return .finished(0)
            case (.exited(75), _): return .finished(75)
            // The status may even be 0. But without a progress report it does not mean that the mail was sent.
            case (.exited(let status), nil): return .notStarted(status)
            // A mail server may take any other status as a reason to return the mail.
            case (.exited(let status), _): return .finished([0, 65, 67].contains(status) ? status : 75)
            case (.signalled(let signal), _) where Self.requests.contains(signal) || rescuedFrom != nil:
                return .interrupted
            case (.signalled, .sending) where !isJournaled: return .interrupted
            case (.signalled(let signal), .started), (.signalled(let signal), .sending): rescuedFrom = signal
            case (.signalled, nil): return .interrupted
            }
        }
    }

    /// Starts a worker and waits for it to end.
    private func work(_ rescuedFrom: Int32?, _ secrets: [SecretVariable]) throws(TransportError) -> ChildProgram.Ending
    {
        lseek(message?.descriptor ?? STDIN_FILENO, start, SEEK_SET)
        ftruncate(workerErrors.descriptor, 0)
        lseek(workerErrors.descriptor, 0, SEEK_SET)
        let role = WorkerRole(
            supervisor: getpid(),
            progress: progress.writing,
            arguments: arguments.descriptor,
            isAtTerminal: isAtTerminal,
            rescuedFrom: rescuedFrom
        )
        // This path names the running program, even if its file has been replaced. Until the child executes the program,
        // the child shows the command line of this process: posix_spawn(3) shares the memory.
        var worker = ChildProgram(
            path: "/proc/self/exe",
            words: role.words,
            standardInput: message?.descriptor ?? STDIN_FILENO,
            standardOutput: STDOUT_FILENO
        )
        worker.standardError = workerErrors.descriptor
        // The descriptors keep their numbers, which differ from all descriptors that the command line names for a
        // passphrase.
        worker.inherited = [role.progress, role.arguments]
        worker.secrets = secrets
        do throws(TransportError) { return try worker.run() } catch {
            throw TransportError(error.reason.replacing(worker.path, with: WorkerRole.program))
        }
    }

    /// The last step that the worker reported; nil if it did not start to handle the message.
    private func readProgress() -> WorkerProgress? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(progress.reading, &bytes, bytes.count)
        return count > 0 ? WorkerProgress(rawValue: bytes[count - 1]) : nil
    }

    /// Writes the standard error of the last worker to that of this process.
    package func passOnMessages() {
        guard let source = try? workerErrors.rewound() else { return }
        let sink = DescriptorSink(STDERR_FILENO)
        _ = try? source.reader().copy(to: sink)
        try? sink.flush()
    }
}
#endif
