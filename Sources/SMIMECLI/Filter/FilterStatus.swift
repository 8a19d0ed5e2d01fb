import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEGateway

/// The exit status of `smime filter`. In a mail server's pipe, the status decides whether mail is lost.
///
/// Postfix's pipe(8) tries again after 71 and 75, and returns the mail to its sender after any other status except 0. The
/// bounce contains the output, which begins with an RFC 3463 code.
enum FilterStatus {
    /// The seconds after which the filter ends with a temporary failure. The mail server must not end the filter before that,
    /// because Postfix treats a killed filter as a permanent failure. The manuals recommend a limit of 600 seconds for the
    /// mail server.
    static let timeLimit: UInt32 = 540

    /// The signals that would end the process and can be caught. SIGPIPE and SIGXFSZ are not among them: `Program` ignores
    /// these, and writing fails instead.
    private static let deadlySignals: [CInt] = {
        let everywhere = [
            SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGSYS, SIGILL,
            SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV,
        ]
        #if os(Linux)
        return everywhere + [SIGPWR, SIGSTKFLT, SIGIO] + (__libc_current_sigrtmin()...__libc_current_sigrtmax())
        #else
        return everywhere
        #endif
    }()

    /// Makes the process end with a message and a temporary failure when it receives a signal that would end it.
    static func catchSignals() {
        for number in deadlySignals {
            signal(number) { number in
                let reason: StaticString =
                    number == SIGALRM ? "4.3.0 the filter ran out of time\n" : "4.3.0 the filter was ended\n"
                // The pipe may have no reader, and writing must not block. Only a few functions are allowed here:
                // signal-safety(7)
                var target = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                if poll(&target, 1, 0) == 1 { SystemCall.writeText(reason, to: STDERR_FILENO) }
                _exit(ExitStatus.tryAgain.rawValue)
            }
        }
    }

    /// Restores the default action of signals in a worker, because its supervisor reports its end. Swift's runtime may also
    /// have set handlers for crashes, which would write contents of memory to standard error.
    static func leaveSignals() {
        for number in deadlySignals { signal(number, SIG_DFL) }
    }

    /// Ends a filter that has already reported everything.
    struct End: Error {
        let status: ExitStatus
    }

    /// Whether a person at a terminal, not a mail server, reads standard error. A worker gets this value from its supervisor.
    static let isAtTerminal = FilterWorker.current?.role.isAtTerminal ?? (isatty(STDERR_FILENO) == 1)

    /// Reports why the mail was refused, and returns the exit status.
    ///
    /// A mail server puts the text of a permanent refusal into a bounce. Unless standard error is a terminal, the text
    /// therefore contains no paths of this host, and a permanent refusal has no hints for the administrator.
    static func report(_ refusal: GatewayRefusal) -> ExitStatus {
        let reason = isAtTerminal ? refusal.explanation : refusal.sentence
        Console.plain("\(refusal.enhancedCode) \(reason)" + (refusal.bounceText.map { ". \($0)" } ?? ""))
        if isAtTerminal || !refusal.isPermanent {
            for hint in refusal.hints {
                Console.hint(isAtTerminal ? hint : GatewayRefusal.withoutFolders(hint), namesHome: isAtTerminal)
            }
        }
        return refusal.exitStatus
    }

    /// Reports a failure of the command itself. The mail did not cause the failure, so the mail waits.
    static func report(_ failure: Failure) -> ExitStatus { report(GatewayRefusal(failure)) }
}

extension GatewayRefusal {
    /// The exit status that tells the mail server what to do with the mail.
    var exitStatus: ExitStatus {
        switch fault {
        case .message: .badData
        case .recipient: .noUser
        case .temporary: .tryAgain
        }
    }

    /// The refusal of a mail for a failure of the command itself.
    init(_ failure: Failure) {
        let isSetUp = [.usage, .configuration, .noPermission].contains(failure.status)
        self.init(
            .temporary,
            isSetUp ? "4.3.5" : "4.3.0",
            explanation: failure.message,
            isCodeLogged: false,
            hints: failure.hints
        )
    }
}

/// The log line of `smime filter` for a mail, and the target that it is written to.
struct FilterLog {
    private let start = ContinuousClock.now
    private var line = LogLine()
    var target = Setting.LogTarget.syslog
    /// Warnings, which are written at the end. They must not precede the first words of a bounce.
    let warnings = WarningList()

    /// Adds a value to the line; does nothing if the value is nil.
    mutating func add(_ key: String, value: String?) { line.add(key, value) }

    /// Adds the recipients, who are listed until it is known what was decided for them.
    mutating func add(recipients: [String]) { line.undecided = recipients }

    /// Adds a list after the status; does nothing if the list is empty.
    mutating func addDetail(_ key: String, _ items: [String]) { line.addDetail(key, items) }

    /// Adds the decisions about the mail and what was done.
    mutating func add(_ record: MailRecord) { line.add(record) }

    /// Writes the line and the warnings. The line contains the status and the duration.
    func write(status: String, _ error: String? = nil) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let milliseconds = "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)"
        let lines = line.lines(status: status, error: error, warnings: warnings.all, milliseconds: milliseconds)
        switch target {
        case .none: break
        case .stderr: lines.forEach(Console.plain)
        case .syslog:
            // syslog keeps the pointer as long as the process lives.
            openlog(strdup("smime"), LOG_PID, LOG_MAIL)
            for line in lines {
                // A va_list would pass a Swift String as an object reference, so a C string is passed.
                line.withCString { text in
                    withVaList([text]) { vsyslog(error == nil ? LOG_INFO : LOG_WARNING, "%s", $0) }
                }
            }
        }
    }
}
