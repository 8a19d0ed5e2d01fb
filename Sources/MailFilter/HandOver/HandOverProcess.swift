import CMS
import Foundation
import Streams
import Synchronization

/// The filter as two processes: one that waits, and a worker that handles the message.
///
/// Between a message that the MTA has taken and the record of it nothing may be lost, whatever happens to the filter: a
/// mail server ends it after a time, an administrator by mistake, a message by a fault of ours. So the process that a mail
/// server starts only waits, and keeps the message. A copy of it does the work under another name, and leaves the first one's
/// session for the few steps that have to be made together. If the copy dies by a fault, a second copy rescues the message.
public enum HandOverProcess {
    /// What stands in place of the copy's command line.
    static let name = "smime-hand-over"

    /// How far a worker has come, as it tells the process that waits.
    private enum Progress: UInt8 {
        /// The whole message is where the process that waits can read it.
        case held = 1
        /// Sending has begun.
        case sending = 2
        /// Everything is sent.
        case sent = 3
    }

    /// Endings by request, as of an administrator: the mail waits then, and the message is not to blame.
    private static let requests = ChildProgram.endingSignals + [SIGKILL, SIGQUIT, SIGALRM]

    /// The process that waits; 0 where there is none.
    private static let first = Atomic<pid_t>(0)
    /// Where the worker reports how far it is; -1 for nowhere.
    private static let progress = Atomic<Int32>(-1)
    /// The signal that the worker before this process died by; 0 for a worker.
    private static let fatalSignal = Atomic<Int32>(0)

    /// The signal by which the worker before this process died at the message; nil in a worker.
    public static var rescuedFrom: Int32? {
        let signal = fatalSignal.load(ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    /// Divides this process. The copy returns; the process itself ends when and as the copy ends.
    ///
    /// Only the thread that calls is copied, so there must be no other yet. fork(2)
    ///
    /// - Parameters:
    ///   - isRemembered: whether a journal tells who has the message, so that a rescue may follow what was half sent.
    ///   - enter: called in each copy before anything else.
    ///   - endingUntimely: called if the copy was ended before its work was done; what to end with.
    /// - Throws: `TransportError` if there can be no more processes or files.
    public static func divide(
        isRemembered: Bool,
        enter: () -> Void,
        endingUntimely: () -> Int32
    ) throws(TransportError) {
        #if os(Linux)
        let held: HeldFiles
        do { held = try HeldFiles() } catch { throw TransportError("\(error)") }
        while true {
            guard let ending = try held.copy(enter: enter, endingUntimely: endingUntimely) else { return }
            if case .exited(let status) = ending {
                held.passOnMessages()
                // A mail server may read any other status as an order to return the mail.
                _exit([0, 65, 67].contains(status) ? status : 75)
            }
            guard case .signalled(let signal) = ending, !requests.contains(signal), rescuedFrom == nil else {
                _exit(endingUntimely())
            }
            switch held.progress {
            case .sent: _exit(0)
            case .sending where !isRemembered: _exit(endingUntimely())
            case .held, .sending: fatalSignal.store(signal, ordering: .relaxed)
            case nil: _exit(endingUntimely())
            }
        }
        #endif
    }

    /// Makes sure that what comes now is done to its end: signals that ask a process to end are not heard.
    ///
    /// - Throws: `TransportError` if the process that waits was ended: the mail server will try again, or is doing so.
    public static func leave() throws(TransportError) {
        let waiting = first.load(ordering: .relaxed)
        guard waiting != 0 else { return }
        setsid()
        for number in ChildProgram.endingSignals { signal(number, SIG_IGN) }
        guard getppid() == waiting else { throw TransportError("the filter was ended") }
    }

    /// Tells that sending begins.
    public static func noteSending() { note(.sending) }

    /// Tells that everything is sent: whatever happens from now on, the mail was delivered.
    public static func noteSent() { note(.sent) }

    private static func note(_ step: Progress) {
        let descriptor = progress.load(ordering: .relaxed)
        guard descriptor >= 0 else { return }
        var byte = step.rawValue
        // The process that waits may be gone, and then it need not know.
        _ = write(descriptor, &byte, 1)
    }

    #if os(Linux)
    /// What both processes have: the message, what the worker says, and how far it is.
    private struct HeldFiles {
        /// The message from `start` on.
        private let message: SpooledFile?
        private let start: off_t
        /// What the copy writes to standard error. A fault's own words must not stand in front of ours.
        private let said: SpooledFile
        private let steps: (reading: Int32, writing: Int32)

        init() throws {
            guard fcntl(STDIN_FILENO, F_GETFD) >= 0 else { throw TransportError("standard input is closed") }
            // Nothing of ours may take the place of a stream that is closed; writing to these fails, as it did.
            for stream in [STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
                _ = open("/dev/null", O_RDONLY)
            }
            var status = stat()
            // A regular file is there for the second copy as it is.
            let isRegular = fstat(STDIN_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            message = isRegular ? nil : try SpooledFile { _ in }
            start = isRegular ? max(0, lseek(STDIN_FILENO, 0, SEEK_CUR)) : 0
            said = try SpooledFile { _ in }
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0, fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else {
                throw TransportError("cannot make a pipe: \(String(cString: strerror(errno)))")
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            steps = (ends[0], ends[1])
        }

        /// How far the copy that ended had come; nil if it had not even the whole message.
        var progress: Progress? {
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = read(steps.reading, &bytes, bytes.count)
            return count > 0 ? Progress(rawValue: bytes[count - 1]) : nil
        }

        /// Makes a copy of this process and waits for its end; nil in the copy.
        func copy(enter: () -> Void, endingUntimely: () -> Int32) throws(TransportError) -> ChildProgram.Ending? {
            let waiting = getpid()
            // The copy never goes by the filter's name: who ends processes finds them by their names a moment before.
            let words = CommandLineMemory()
            words?.write(HandOverProcess.name)
            let copy = fork()
            if copy != 0 { words?.restore() }
            guard copy >= 0 else {
                throw TransportError("cannot start a process: \(String(cString: strerror(errno)))")
            }
            guard copy == 0 else { return ChildProgram.Ending(of: copy) ?? .signalled(SIGKILL) }
            enter()
            // What ends the first one for taking too long means this one, until it has begun to hand over.
            guard ParentProcess.sendsWhenEnding(SIGTERM, waiting) else { _exit(endingUntimely()) }
            first.store(waiting, ordering: .relaxed)
            ftruncate(said.descriptor, 0)
            lseek(said.descriptor, 0, SEEK_SET)
            dup2(said.descriptor, STDERR_FILENO)
            HandOverProcess.progress.store(steps.writing, ordering: .relaxed)
            try takeMessage()
            return nil
        }

        /// Makes the message standard input: at first what comes there is kept.
        private func takeMessage() throws(TransportError) {
            guard let message else {
                lseek(STDIN_FILENO, start, SEEK_SET)
                return note(.held)
            }
            let descriptor = message.descriptor
            if rescuedFrom == nil {
                do {
                    let input = try Input.standardInput()
                    let sink = DescriptorSink(descriptor)
                    try input.reader().copy(to: sink)
                    try sink.flush()
                } catch { throw TransportError("\(error)") }
            }
            lseek(descriptor, 0, SEEK_SET)
            dup2(descriptor, STDIN_FILENO)
            note(.held)
        }

        /// Writes what the copy said to standard error.
        func passOnMessages() {
            guard let source = try? said.rewound() else { return }
            let sink = DescriptorSink(STDERR_FILENO)
            _ = try? source.reader().copy(to: sink)
            try? sink.flush()
        }
    }
    #endif
}

#if os(Linux)
/// The memory that the system shows as the command line, and `pkill -f` goes by. Swift's own is a copy.
private struct CommandLineMemory {
    private let bytes: UnsafeMutableRawBufferPointer
    private let original: [UInt8]

    /// Nil where it cannot be found.
    init?() {
        // glibc's pointer to the first word; the others follow it.
        guard let symbol = dlsym(nil, "program_invocation_name"),
            let start = symbol.load(as: UnsafeMutableRawPointer?.self)
        else { return nil }
        let words = (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0] }
        bytes = UnsafeMutableRawBufferPointer(start: start, count: words.reduce(0) { $0 + strlen($1) + 1 })
        original = Array(bytes)
    }

    func write(_ text: String) {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyBytes(from: text.utf8.prefix(max(0, bytes.count - 1)))
    }

    func restore() { bytes.copyBytes(from: original) }
}
#endif
