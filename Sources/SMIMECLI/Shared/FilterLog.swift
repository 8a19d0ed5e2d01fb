import Foundation
import MIME
import MailFilter
import Synchronization

/// The one line that `smime filter` writes on each mail: `key=value`, never anything of the content.
struct FilterLog {
    private let start = ContinuousClock.now
    private var pairs: [(key: String, value: String)] = []
    var target = Setting.LogTarget.syslog
    /// What is told besides, at the end.
    let warnings = Warnings()

    /// How many recipients are told one by one.
    private static let maximumRecipients = 20

    /// Adds a pair; one without a value is left out.
    mutating func add(_ key: String, _ value: String?) {
        if let value { pairs.append((key, value)) }
    }

    /// Adds what was done for each recipient, as `bob@example.com:sign+encrypt`.
    mutating func add(_ outcomes: [(recipient: String, action: String)]) {
        add("recipients", "\(outcomes.count)")
        let told = outcomes.prefix(Self.maximumRecipients).map { "\($0.recipient):\($0.action)" }
        add("actions", told.joined(separator: ",") + (outcomes.count > told.count ? ",…" : ""))
    }

    /// Writes the line, with how it ended and how long it took.
    func write(status: String, _ error: String? = nil) {
        var line = self
        line.add("status", status)
        line.add("error", error)
        warnings.all.forEach { line.add("warning", $0) }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        line.add("ms", "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)")
        let text = line.pairs.map { "\($0.key)=\(Self.quoted($0.value))" }.joined(separator: " ")
        switch target {
        case .none: break
        case .stderr: Console.plain(text)
        case .syslog:
            // syslog keeps the pointer for as long as the process lives.
            openlog(strdup("smime"), LOG_PID, LOG_MAIL)
            // A String among C's arguments would be the pointer to an object.
            text.withCString { text in
                withVaList([text]) { vsyslog(error == nil ? LOG_INFO : LOG_WARNING, "%s", $0) }
            }
        }
    }

    /// `text` on one line and readable; in quotes if there are blanks in it.
    private static func quoted(_ text: String) -> String {
        let text = String(text.escapedForDisplay.prefix(1000))
        guard text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return text }
        return "\"\(text.replacing("\"", with: "'"))\""
    }
}

/// What is to be told of a mail besides its fate. It must not stand in front of a bounce's first words.
final class Warnings: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
