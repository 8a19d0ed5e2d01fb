import CMS
import Foundation
import Synchronization

/// The filter as two processes, of which the second goes on with handing over when the first is ended.
///
/// Between a message that the MTA has taken and the record of it nothing may be lost, whatever happens to the filter: a
/// mail server ends it after a time, an administrator by mistake. So the process that a mail server starts only waits.
/// A copy of it, under another name, does the work, and leaves the first one's session for the few steps that have to be
/// made together.
public enum HandOverProcess {
    /// What stands in place of the copy's command line.
    static let name = "smime-hand-over"

    /// The process that waits; 0 where there is none.
    private static let first = Atomic<pid_t>(0)

    /// Divides this process. The copy returns; the process itself ends when and as the copy ends.
    ///
    /// Only the thread that calls is copied, so there must be no other yet. fork(2)
    ///
    /// - Parameter endingUntimely: called if the copy was killed; what to end with.
    /// - Throws: `TransportError` if there can be no more processes.
    public static func divide(endingUntimely: () -> Int32) throws(TransportError) {
        #if os(Linux)
        let waiting = getpid()
        // The copy never goes by the filter's name: who ends processes finds them by their names a moment before.
        let words = CommandLineMemory()
        words?.write(Self.name)
        let copy = fork()
        if copy != 0 { words?.restore() }
        guard copy >= 0 else { throw TransportError("cannot start a process: \(String(cString: strerror(errno)))") }
        guard copy == 0 else {
            var ending: Int32 = 0
            while waitpid(copy, &ending, 0) < 0, errno == EINTR {}
            _exit(ending & 0x7F == 0 ? (ending >> 8) & 0xFF : endingUntimely())
        }
        // Whoever ends the first one for taking too long means this one, until it has begun to hand over.
        guard ParentProcess.sendsWhenEnding(SIGTERM, waiting) else { _exit(endingUntimely()) }
        first.store(waiting, ordering: .relaxed)
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
