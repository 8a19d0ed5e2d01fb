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

    /// Says what to do next; a command in it works on the store that this one works on.
    static func hint(_ message: String) { hint(message, namesHome: true) }

    /// The same.
    ///
    /// - Parameter namesHome: whether a command names the store that the command line names.
    static func hint(_ message: String, namesHome: Bool) {
        if !isQuiet { say(hintKind, color: "36", namesHome ? namingHome(in: message) : message) }
    }

    /// `hint` with the store named on the command line in its commands.
    static func namingHome(in hint: String) -> String {
        home.map { hint.replacing("smime ", with: "smime --home \($0) ") } ?? hint
    }

    /// The store named on the command line, quoted for a shell.
    private static let home: String? = Invocation.current.value(of: "--home").flatMap {
        $0.isEmpty ? nil : "\(shell: $0)"
    }

    /// One line of plain information.
    static func note(_ message: String) { if !isQuiet { write("smime: \(message.escapedForDisplay)\n") } }

    /// One line without our name in front, for mail servers, which look at its beginning.
    static func plain(_ message: String) { write("\(message.escapedForDisplay)\n") }

    /// Only hints are broken to the width of the terminal: other messages are looked for in logs.
    private static let hintKind = "hint"

    private static func say(_ kind: String, color: String, _ message: String) {
        let label = isColored(STDERR_FILENO) ? "\u{1B}[\(color)m\(kind)\u{1B}[0m" : kind
        let text = message.escapedForDisplay
        guard kind == hintKind, let width = Terminal.width(STDERR_FILENO) else {
            return write("smime: \(label): \(text)\n")
        }
        let lines = WrappedText(text, width: width, taken: "smime: \(kind): ".count).lines
        write("smime: \(label): \(lines.joined(separator: "\n"))\n")
    }

    /// A message that cannot be written is lost, because there is no other place to report it.
    static func write(_ text: String) {
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
