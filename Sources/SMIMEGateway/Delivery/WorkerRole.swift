package import Foundation

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
