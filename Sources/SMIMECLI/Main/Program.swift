import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import SMIMEAgent
import SMIMEGateway
import SMIMEServer

/// The entry point, with the set-up that must happen before there is a second thread.
@main
enum Program {
    static func main() {
        // A reload signal may arrive before the service handles it. The signal can be ignored, because a starting service
        // reads everything anyway.
        if Invocation.isService(CommandLine.arguments.dropFirst()) { signal(SIGHUP, SIG_IGN) }
        // If the reader of a pipe ends, the write fails and the command ends with a status. Without this line, the signal
        // would end the process without a message.
        signal(SIGPIPE, SIG_IGN)
        // A write to a file that has reached its size limit fails in the same way.
        signal(SIGXFSZ, SIG_IGN)
        // Without enough address space for the stacks of threads, the process would hang.
        AddressSpace.limitReservations()
        guard AddressSpace.canMap(byteCount: 96 << 20) else { stopForLackOfMemory() }
        // If SIGCHLD is ignored, the system discards the exit status of child processes.
        signal(SIGCHLD, SIG_DFL)
        // Only root can raise a thread's priority, and libdispatch would report each failure to syslog.
        setenv(ChildProgram.dispatchLog.name, ChildProgram.dispatchLog.value, 0)
        MemoryDumps.forbid()
        Libcrypto.wipeFreedMemory()
        KeyAgentProcess.begin(CommandLine.arguments)
        do throws(TransportError) {
            try FilterWorker.begin(CommandLine.arguments)
            try ServerWorker.begin(CommandLine.arguments)
        } catch {
            stop(error.reason)
        }
        // A worker of the service handles one message at a time, on changing threads.
        if ServerWorker.current != nil { AddressSpace.shareHeap() }
        if FilterWorker.current != nil { FilterStatus.leaveSignals() }
        let invocation = Invocation.current
        // Without its arguments, a command in a mail server's pipe would end with status 64, and the mail would bounce.
        guard !invocation.bytes.isEmpty else {
            stop("cannot read the command line", hint: "mount /proc where this runs")
        }
        EnvironmentPassphrases.moveFromEnvironment(invocation.passphraseVariables)
        if invocation.calls(SMIMECommand.Sendmail.name) { SendmailLoop.mark() }
        // The Swift runtime ends the process with a signal if it cannot open the files that it needs for threads.
        guard hasDescriptors(invocation.mayDeliver ? 16 : 4) else {
            stop("too few file descriptors", hint: "raise the limit: ulimit -n 64")
        }
        if invocation.isFilter, FilterWorker.current == nil {
            FilterStatus.catchSignals()
            // A worker has no alarm, because it must finish a delivery that it has begun.
            alarm(FilterStatus.timeLimit)
            #if os(Linux)
            if invocation.isSupervised { supervise(invocation) }
            #endif
        }
        // `doctor` reports missing tools itself.
        if !invocation.calls("doctor") {
            IDNLibrary.whenMissing { stop("cannot load \($0)", hint: "install libidn2-0") }
        }
        FilterWorker.noteStarted()
        // This thread waits and receives the signals, because threads of Swift's runtime do not receive them.
        Task.detached { await SMIMECommand.execute() }
        while true { pause() }
    }

    #if os(Linux)
    /// Lets a worker process handle the mail, and ends with the worker's status.
    private static func supervise(_ invocation: Invocation) -> Never {
        let interruption = Failure(.tryAgain, "the filter was ended")
        // The supervisor reads standard input. The worker gets the message as a file, and so never prints that it waits.
        InputFile.noteTerminal(alternative: "")
        do throws(TransportError) {
            let supervisor = try FilterSupervisor(
                arguments: invocation.bytes,
                isAtTerminal: FilterStatus.isAtTerminal
            )
            switch try supervisor.run(isJournaled: invocation.mayDeliver, secrets: EnvironmentPassphrases.variables) {
            case .finished(let status):
                supervisor.passOnMessages()
                exit(status)
            case .interrupted: exit(FilterStatus.report(interruption).rawValue)
            case .notStarted(let status):
                let failure = Failure(.tryAgain, "the process that handles the mail could not start (status \(status))")
                let ownStatus = FilterStatus.report(failure)
                supervisor.passOnMessages()
                exit(ownStatus.rawValue)
            }
        } catch {
            exit(FilterStatus.report(Failure(.tryAgain, error.reason)).rawValue)
        }
    }
    #endif

    /// Reports the lack of memory as `stop` would, but without allocating memory.
    private static func stopForLackOfMemory() -> Never {
        let text: StaticString = "smime: error: too little memory\nsmime: hint: raise the limit: ulimit -v 262144\n"
        SystemCall.writeText(text, to: STDERR_FILENO)
        _exit(ExitStatus.tryAgain.rawValue)
    }

    private static func stop(_ message: String, hint: String? = nil) -> Never {
        let failure = Failure(.tryAgain, message, hints: hint.map { [$0] } ?? [])
        if Invocation.current.isFilter { exit(FilterStatus.report(failure).rawValue) }
        Console.error(message)
        failure.hints.forEach(Console.hint)
        exit(ExitStatus.tryAgain.rawValue)
    }

    /// Whether this process can open `count` more files.
    private static func hasDescriptors(_ count: Int) -> Bool {
        let probes = (0..<count).map { _ in dup(STDERR_FILENO) }.filter { $0 >= 0 }
        for probe in probes { close(probe) }
        // If standard error is closed, it cannot be duplicated, but then no error could be reported anyway.
        return probes.count == count || errno != EMFILE
    }
}
