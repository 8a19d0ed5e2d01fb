import Foundation
import SMIMEAgent
import SMIMEGateway

/// The log line of `smime filter` for a mail, and where it goes.
struct FilterLog {
    private let start = ContinuousClock.now
    private var line = LogLine()
    var target = Setting.LogTarget.syslog
    /// Warnings, at the end. They must not precede the first words of a bounce.
    let warnings = WarningList()

    /// Adds a value; nil is left out.
    mutating func add(_ key: String, _ value: String?) { line.add(key, value) }

    /// Adds a list after the status; an empty one is left out.
    mutating func addDetail(_ key: String, _ items: [String]) { line.addDetail(key, items) }

    /// Adds what was decided and done.
    mutating func add(_ record: MailRecord) { line.add(record) }

    /// Writes the lines, with how it ended and how long it took.
    func write(status: String, _ error: String? = nil) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let milliseconds = "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)"
        let lines = line.lines(status: status, error: error, warnings: warnings.all, milliseconds: milliseconds)
        switch target {
        case .none: break
        case .stderr: lines.forEach(Console.plain)
        case .syslog:
            // syslog keeps the pointer for as long as the process lives.
            openlog(strdup("smime"), LOG_PID, LOG_MAIL)
            for line in lines {
                // A va_list would pass a Swift String as an object reference.
                line.withCString { text in
                    withVaList([text]) { vsyslog(error == nil ? LOG_INFO : LOG_WARNING, "%s", $0) }
                }
            }
        }
    }
}
