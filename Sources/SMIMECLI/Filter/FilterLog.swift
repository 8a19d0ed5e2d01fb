import Foundation
import InternetMessage
import SMIMEAgent
import SMIMEGateway

/// The log lines of `smime filter` for each mail: `key=value`, never content.
///
/// Usually it is one line. Long lists, such as recipients, continue in further lines, each with the names of the mail
/// and a number: no line is longer than syslog allows, and nothing is left out.
struct FilterLog {
    private let start = ContinuousClock.now
    private var pairs: [(key: String, items: [String])] = []
    /// The pairs after the status.
    private var details: [(key: String, items: [String])] = []
    var target = Setting.LogTarget.syslog
    /// Warnings, at the end. They must not precede the first words of a bounce.
    let warnings = WarningList()

    /// The bytes of one list in one line.
    private static let maximumList = 800
    /// The characters of any other value.
    private static let maximumValue = 1000
    /// The maximum number of warnings.
    private static let maximumWarnings = 10
    /// The keys by which lines of one mail are known.
    private static let names = ["direction", "queue_id", "message_id"]

    /// Adds a pair; one without a value is left out.
    mutating func add(_ key: String, _ value: String?) {
        if let value { pairs.append((key, [Self.cut(value)])) }
    }

    /// Adds a list after the status; an empty one is left out.
    mutating func addDetail(_ key: String, _ items: [String]) {
        if !items.isEmpty { details.append((key, items)) }
    }

    /// Adds what was decided and done.
    mutating func add(_ record: MailRecord) {
        pairs += record.fields.map(Self.pair)
        details += record.details.map(Self.pair)
    }

    private static func pair(_ field: MailRecord.Field) -> (key: String, items: [String]) {
        if case .text(let text) = field.value { return (field.key, [cut(text)]) }
        return (field.key, field.value.items)
    }

    /// Writes the lines, with how it ended and how long it took.
    func write(status: String, _ error: String? = nil) {
        let lines = lines(status: status, error)
        switch target {
        case .none: break
        case .stderr: lines.forEach(Console.plain)
        case .syslog:
            // syslog keeps the pointer for as long as the process lives.
            openlog(strdup("smime"), LOG_PID, LOG_MAIL)
            for line in lines {
                // In a va_list a Swift String would be passed as an object reference.
                line.withCString { text in
                    withVaList([text]) { vsyslog(error == nil ? LOG_INFO : LOG_WARNING, "%s", $0) }
                }
            }
        }
    }

    private func lines(status: String, _ error: String?) -> [String] {
        var all = pairs + [("status", [status])]
        if let error { all.append(("error", [Self.cut(error)])) }
        let told = warnings.all
        all += told.prefix(Self.maximumWarnings).map { ("warning", [Self.cut($0)]) }
        if told.count > Self.maximumWarnings { all.append(("warnings", ["\(told.count)"])) }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        all.append(("ms", ["\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)"]))
        all += details
        let chunks = all.map { (key: $0.key, chunks: Self.chunks($0.items)) }
        var lines = [chunks.map { Self.pair($0.key, $0.chunks.first ?? "") }.joined(separator: " ")]
        let names = pairs.filter { Self.names.contains($0.key) }.map { Self.pair($0.key, $0.items.first ?? "") }
        for (key, chunks) in chunks {
            for chunk in chunks.dropFirst() {
                lines.append((names + ["line=\(lines.count + 1)", Self.pair(key, chunk)]).joined(separator: " "))
            }
        }
        return lines
    }

    /// The items in as few texts as their length allows.
    private static func chunks(_ items: [String]) -> [String] {
        var chunks: [String] = []
        var size = 0
        for item in items {
            if let last = chunks.last, size + item.utf8.count < maximumList {
                chunks[chunks.count - 1] = last + "," + item
                size += item.utf8.count + 1
            } else {
                chunks.append(item)
                size = item.utf8.count
            }
        }
        return chunks
    }

    private static func cut(_ text: String) -> String { String(text.prefix(maximumValue)) }

    /// The pair on one line and readable; the value in quotes if there are blanks in it. A quote in it stands as another one,
    /// so that no value holds a pair.
    private static func pair(_ key: String, _ value: String) -> String {
        let text = value.escapedForDisplay
        guard text.isEmpty || text.contains(where: { $0.isWhitespace || $0 == "\"" || $0 == "=" }) else {
            return "\(key)=\(text)"
        }
        return "\(key)=\"\(text.replacing("\"", with: "'"))\""
    }
}
