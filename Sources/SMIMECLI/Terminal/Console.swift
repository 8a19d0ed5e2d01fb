import ByteStreams
import Foundation
import InternetMessage
import Synchronization

/// Output for persons: data on standard output, everything else on standard error.
///
/// Text from outside is never printed unescaped: control, bidirectional and invisible characters are escaped.
enum Console {
    private static let quiet = Atomic(false)
    static var isQuiet: Bool { quiet.load(ordering: .relaxed) }

    /// Suppresses all messages except errors from now on.
    static func silence() { quiet.store(true, ordering: .relaxed) }

    static func error(_ message: String) { printMessage(message, as: "error", color: "31") }
    static func warning(_ message: String) { if !isQuiet { printMessage(message, as: "warning", color: "33") } }

    /// Prints a hint about what to do next. The --home of this command line is added to commands in the hint.
    static func hint(_ message: String) { hint(message, namesHome: true) }

    /// Prints a hint about what to do next.
    ///
    /// - Parameter namesHome: whether the --home of this command line is added to commands in the hint.
    static func hint(_ message: String, namesHome: Bool) {
        if !isQuiet { printMessage(namesHome ? namingHome(in: message) : message, as: "hint", color: "36") }
    }

    /// `hint`, with the --home of this command line added to its commands.
    static func namingHome(in hint: String) -> String {
        home.map { HintCommands(hint).text(inserting: "--home \($0) ") } ?? hint
    }

    /// The store that the command line names, quoted for a shell; nil if it names none.
    private static let home: String? = Invocation.current.value(of: "--home").flatMap {
        $0.isEmpty ? nil : "\(shell: $0)"
    }

    /// Prints one line of information, which is wrapped at blanks on a terminal.
    static func note(_ message: String) {
        guard !isQuiet else { return }
        write("smime: \(WrappedText.text(message.escapedForDisplay, on: STDERR_FILENO, taken: 7))\n")
    }

    /// Prints one line of information whose blanks place its parts, as in a tree or in columns. It is not wrapped.
    static func row(_ message: String) {
        if !isQuiet { write("\(rowStart)\(message.escapedForDisplay)\n") }
    }

    /// The text in front of a row.
    static let rowStart = "smime: "

    /// Prints one line without `smime:` in front, for mail servers, which read the beginning of the line.
    static func plain(_ message: String) { write("\(message.escapedForDisplay)\n") }

    /// Prints a message as one line, which is wrapped at blanks on a terminal.
    private static func printMessage(_ message: String, as kind: String, color: String) {
        let label = isColored(STDERR_FILENO) ? "\u{1B}[\(color)m\(kind)\u{1B}[0m" : kind
        let taken = "smime: \(kind): ".columnCount
        write("smime: \(label): \(WrappedText.text(message.escapedForDisplay, on: STDERR_FILENO, taken: taken))\n")
    }

    /// Writes to standard error. If that fails, the message is lost, because it cannot be reported elsewhere.
    static func write(_ text: String) {
        ProgressBar.hide()
        let sink = DescriptorSink(STDERR_FILENO)
        try? sink.write(text)
        try? sink.flush()
    }

    /// Whether output to `descriptor` is colored. This is known before the arguments are parsed, because errors about
    /// arguments are colored, too.
    static func isColored(_ descriptor: Int32) -> Bool {
        switch Invocation.current.value(of: "--color") ?? "auto" {
        case "always": true
        case "never": false
        default:
            isatty(descriptor) == 1 && (ProcessEnvironment["NO_COLOR"] ?? "").isEmpty
                && ProcessEnvironment["TERM"] != "dumb"
        }
    }
}
