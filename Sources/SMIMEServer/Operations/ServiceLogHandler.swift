import ByteStreams
import Foundation
import Logging
import Synchronization

/// The destination of the service's log.
package enum LogDestination: String, CaseIterable, Sendable {
    /// Standard error. Under systemd this is the journal, which reads the priority at the start of each line (sd-daemon(3)).
    case stderr
    /// syslog(3), with the facility `mail`.
    case syslog
    /// The systemd journal, with the keys of each line as fields.
    case journal
}

/// Writes each message of swift-log to the destination as one line or one journal entry.
struct ServiceLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    private let destination: LogDestination
    private let hasPriorities: Bool

    /// - Parameter hasPriorities: whether the reader of standard error understands priorities (sd-daemon(3)).
    init(_ destination: LogDestination, hasPriorities: Bool) {
        self.destination = destination
        self.hasPriorities = hasPriorities
        if destination == .syslog { Self.syslogIsOpen }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let text = "\(event.message)"
        let priority = Self.priority(of: event.level)
        switch destination {
        case .stderr:
            let line = (hasPriorities ? "<\(priority)>" : "") + text + "\n"
            // Each line is written with one system call, so that lines of several processes are not mixed.
            let bytes = Array(line.utf8)
            _ = SystemCall.writeBytes(STDERR_FILENO, bytes.octets)
        case .syslog:
            text.withCString { text in withVaList([text]) { vsyslog(priority, "%s", $0) } }
        case .journal: JournalSocket.shared.send(text, priority: priority, fields: event.metadata ?? [:])
        }
    }

    /// Opens syslog once. syslog keeps the pointer to the name while the process runs.
    private static let syslogIsOpen: Void = openlog(strdup("smime"), LOG_PID, LOG_MAIL)

    private static func priority(of level: Logger.Level) -> Int32 {
        switch level {
        case .trace, .debug: LOG_DEBUG
        case .info: LOG_INFO
        case .notice: LOG_NOTICE
        case .warning: LOG_WARNING
        case .error: LOG_ERR
        case .critical: LOG_CRIT
        }
    }
}

/// A socket to the systemd journal.
///
/// systemd.io/JOURNAL_NATIVE_PROTOCOL
private final class JournalSocket: Sendable {
    static let shared = JournalSocket()

    private static let path = "/run/systemd/journal/socket"

    private let descriptor: Int32

    private init() {
        #if os(Linux)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        descriptor = -1
        #endif
    }

    /// Sends one entry. If there is no journal, or if the entry is too long for a datagram, the line is written to standard
    /// error.
    func send(_ text: String, priority: Int32, fields: Logger.Metadata) {
        var bytes = Self.field("MESSAGE", value: text) + Self.field("PRIORITY", value: "\(priority)")
        bytes += Self.field("SYSLOG_IDENTIFIER", value: "smime")
        for (key, value) in fields { bytes += Self.field("SMIME_" + key.uppercased(), value: "\(value)") }
        guard !UnixDatagram.send(bytes, over: descriptor, to: Self.path) else { return }
        let line = Array((text + "\n").utf8)
        _ = SystemCall.writeBytes(STDERR_FILENO, line.octets)
    }

    /// An encoded field. If its value contains a line feed, the value's length precedes the value.
    private static func field(_ name: String, value: String) -> [UInt8] {
        guard value.contains("\n") else { return Array("\(name)=\(value)\n".utf8) }
        // Little-endian (JOURNAL_NATIVE_PROTOCOL of systemd).
        let count = UInt64(value.utf8.count).bigEndianBytes.reversed()
        return Array("\(name)\n".utf8) + count + Array(value.utf8) + [10]
    }
}
