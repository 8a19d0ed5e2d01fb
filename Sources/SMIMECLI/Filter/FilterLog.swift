import Foundation
import SMIMEAgent
import SMIMEGateway

/// The log line of `smime filter` for a mail, and the target that it is written to.
struct FilterLog {
    private let start = ContinuousClock.now
    private var line = LogLine()
    var target = Setting.LogTarget.syslog
    /// Warnings, which are written at the end. They must not precede the first words of a bounce.
    let warnings = WarningList()

    /// Adds a value to the line; does nothing if the value is nil.
    mutating func add(_ key: String, value: String?) { line.add(key, value) }

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
