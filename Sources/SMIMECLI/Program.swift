import CMS
import Foundation
import MIME
import MailFilter

/// Where the process begins: what has to be done before there is a second thread.
@main
enum Program {
    static func main() {
        // A reader that went away is a failed write, which has a status of its own, and not a silent death.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that may not grow.
        signal(SIGXFSZ, SIG_IGN)
        // Who is not root cannot raise a thread's priority, and libdispatch would tell syslog of it every time.
        setenv(ChildProgram.dispatchLog.name, ChildProgram.dispatchLog.value, 0)
        MemoryDumps.forbid()
        Libcrypto.wipeFreedMemory()
        let invocation = Invocation.current
        // Without arguments we would print our help, and end with a success that loses mail.
        guard invocation.isReadable else { stop("cannot read the command line", "mount /proc where this runs") }
        EnvironmentPassphrases.take(invocation.passphraseVariables)
        // The runtime ends the process by a signal if it cannot open what it needs for its threads.
        guard hasDescriptors(invocation.mayHandOver ? 16 : 4) else {
            stop("too few file descriptors", "raise the limit: ulimit -n 64")
        }
        // And it waits for ever where there is no room for the stacks of threads.
        AddressSpace.spare()
        guard AddressSpace.has(96 << 20) else { stop("too little memory", "raise the limit: ulimit -v 262144") }
        // Who examines the installation tells of it in the report.
        if !invocation.calls("doctor") {
            IDNLibrary.whenMissing { stop("cannot load \($0)", "install libidn2-0") }
        }
        if invocation.isFilter {
            FilterStatus.catchSignals()
            // The copy has no alarm: what it hands over it hands over to the end.
            alarm(FilterStatus.timeLimit)
            if invocation.isSupervised {
                // Asked while standard error is still the caller's.
                _ = FilterStatus.isAtTerminal
                divide()
                runOnOtherThread()
            }
        }
        run()
    }

    /// Runs the command on the threads of Swift's runtime. This one waits, and hears the signals, which those do not.
    private static func run() -> Never {
        Task.detached { await SMIMECommand.execute() }
        while true { pause() }
    }

    /// Runs the command where there was a fork. Locks of Swift's runtime go by the number of the thread, which it remembers
    /// from before: this thread and another one that first use something at once would wait for each other for ever.
    private static func runOnOtherThread() -> Never {
        DispatchQueue(label: "smime command").async { run() }
        while true { pause() }
    }

    /// Makes a process of its own for what has to be done to its end, and goes on there.
    private static func divide() {
        do throws(TransportError) {
            try HandOverProcess.divide(
                isRemembered: Invocation.current.mayHandOver,
                enter: FilterStatus.leaveSignals,
                endingUntimely: { FilterStatus.report(Failure(.tryAgain, "the filter was ended")).rawValue }
            )
        } catch {
            exit(FilterStatus.report(Failure(.tryAgain, error.reason)).rawValue)
        }
    }

    private static func stop(_ message: String, _ hint: String) -> Never {
        let failure = Failure(.tryAgain, message, hints: [hint])
        if Invocation.current.isFilter { exit(FilterStatus.report(failure).rawValue) }
        Console.error(message)
        Console.hint(hint)
        exit(ExitStatus.tryAgain.rawValue)
    }

    /// Whether so many files more can be opened.
    private static func hasDescriptors(_ count: Int) -> Bool {
        let probes = (0..<count).map { _ in dup(STDERR_FILENO) }.filter { $0 >= 0 }
        for probe in probes { close(probe) }
        // Without a standard error there is nothing to duplicate, and it is too late to say so.
        return probes.count == count || errno != EMFILE
    }
}
