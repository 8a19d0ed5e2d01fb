import ByteStreams
import Foundation
import InternetMessage
import Synchronization

/// Output for people: data on standard output, everything else on standard error.
///
/// Nothing that came from outside is printed raw; control, bidirectional and invisible characters are escaped.
enum Console {
    private static let quiet = Atomic(false)
    static var isQuiet: Bool { quiet.load(ordering: .relaxed) }

    /// Leaves out all messages but errors from now on.
    static func silence() { quiet.store(true, ordering: .relaxed) }

    static func error(_ message: String) { say("error", color: "31", message) }
    static func warning(_ message: String) { if !isQuiet { say("warning", color: "33", message) } }

    /// Says what to do next. Commands in it get the --home of this command line.
    static func hint(_ message: String) { hint(message, namesHome: true) }

    /// The same.
    ///
    /// - Parameter namesHome: whether commands in it get the --home of this command line.
    static func hint(_ message: String, namesHome: Bool) {
        if !isQuiet { say("hint", color: "36", namesHome ? namingHome(in: message) : message) }
    }

    /// `hint`, whose commands get the --home of this command line.
    static func namingHome(in hint: String) -> String {
        home.map { hint.replacing("smime ", with: "smime --home \($0) ") } ?? hint
    }

    /// The store named on the command line, quoted for a shell.
    private static let home: String? = Invocation.current.value(of: "--home").flatMap {
        $0.isEmpty ? nil : "\(shell: $0)"
    }

    /// One line of plain information.
    static func note(_ message: String) {
        guard !isQuiet else { return }
        write("smime: \(WrappedText.text(message.escapedForDisplay, on: STDERR_FILENO, taken: 7))\n")
    }

    /// One line without `smime:` in front, for mail servers, which read its beginning.
    static func plain(_ message: String) { write("\(message.escapedForDisplay)\n") }

    /// Says it in one line, which a terminal shows broken at blanks.
    private static func say(_ kind: String, color: String, _ message: String) {
        let label = isColored(STDERR_FILENO) ? "\u{1B}[\(color)m\(kind)\u{1B}[0m" : kind
        let taken = "smime: \(kind): ".count
        write("smime: \(label): \(WrappedText.text(message.escapedForDisplay, on: STDERR_FILENO, taken: taken))\n")
    }

    /// A message that cannot be written is lost, because there is no other place to report it.
    static func write(_ text: String) {
        ProgressBar.hide()
        let sink = DescriptorSink(STDERR_FILENO)
        try? sink.write(text)
        try? sink.flush()
    }

    /// Decided before the arguments are parsed, since wrong arguments are reported in color, too.
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
