import Foundation
import SMIMEAgent
import SMIMEGateway

/// How `smime filter` ends: in a mail server's pipe a status decides whether mail is lost.
///
/// Postfix's pipe(8) tries again after 71 and 75 and bounces after any other; of what a command says it takes the
/// beginning, an RFC 3463 code, into the bounce.
enum FilterStatus {
    /// The seconds after which the filter ends with a failure that passes: before a mail server ends it, which is no such
    /// failure for Postfix. The manuals allow 600.
    static let timeLimit: UInt32 = 540

    /// The signals that would end the process. SIGXFSZ is none of them: a file that may not grow is a failed write.
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

    /// Makes every signal that would end the process end it as a failure that passes, with a word about it.
    static func catchSignals() {
        for number in deadlySignals {
            signal(number) { number in
                let reason: StaticString =
                    number == SIGALRM ? "4.3.0 the filter ran out of time\n" : "4.3.0 the filter was ended\n"
                // The pipe may have no reader, and writing must not block. Few functions are allowed here:
                // signal-safety(7)
                var target = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                if poll(&target, 1, 0) == 1 { _ = write(STDERR_FILENO, reason.utf8Start, reason.utf8CodeUnitCount) }
                _exit(ExitStatus.tryAgain.rawValue)
            }
        }
    }

    /// Lets signals end a worker as they do: its supervisor says what there is to say. Swift's runtime may have set handlers, too,
    /// for signals of faults; these write what is in memory to standard error.
    static func leaveSignals() {
        for number in deadlySignals { signal(number, SIG_DFL) }
    }

    /// The end of a filter that has said all there is to say.
    struct End: Error {
        let status: ExitStatus
    }

    /// Whether `text` begins with an enhanced status code that says it is no success (RFC 3463 §2).
    private static func hasCode(_ text: String) -> Bool {
        let numbers = text.prefix { $0 != " " }.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 3 && ["4", "5"].contains(numbers[0])
            && numbers.allSatisfy { 1...3 ~= $0.utf8.count && $0.utf8.allSatisfy { 48...57 ~= $0 } }
    }

    /// Whether a person sees what is said, and not a mail server. A worker's standard error is its supervisor's to pass on.
    static let isAtTerminal = FilterWorker.current?.role.isAtTerminal ?? (isatty(STDERR_FILENO) == 1)

    /// Reports the failure and returns the exit status.
    ///
    /// A mail server may put the text into a bounce, so it has no paths of this machine and no hints for its
    /// administrator.
    ///
    /// - Parameter sentence: the sentence for people that follows the reason in a bounce.
    static func report(_ failure: Failure, sentence: String? = nil) -> ExitStatus {
        let (status, code): (ExitStatus, String) =
            switch failure.status {
            case .badData: (.badData, "5.6.0")
            case .noUser: (.noUser, "5.7.1")
            case .usage, .configuration, .noPermission: (.tryAgain, "4.3.5")
            default: (.tryAgain, "4.3.0")
            }
        let reason = isAtTerminal ? failure.message : withoutFolders(failure.message)
        let text = hasCode(reason) ? reason : "\(code) \(reason)"
        Console.plain(text + (status == .tryAgain ? "" : sentence.map { ". \($0)" } ?? ""))
        if isAtTerminal || status == .tryAgain {
            for hint in failure.hints {
                Console.hint(isAtTerminal ? hint : withoutFolders(hint), namesHome: isAtTerminal)
            }
        }
        return status
    }

    /// `text` with the last components alone of absolute paths.
    private static func withoutFolders(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word -> Substring in
            let start = word.firstIndex { !"'\"`(".contains($0) } ?? word.endIndex
            guard word[start...].hasPrefix("/"), !word.contains("@"),
                let slash = word.lastIndex(where: { $0 == "/" }), word.index(after: slash) < word.endIndex
            else { return word }
            return word[..<start] + word[word.index(after: slash)...]
        }.joined(separator: " ")
    }
}
