import NIOCore
import SMIMEGateway

/// What the log says of one message: who, what was decided and why, and how it ended.
package struct MessageLog {
    private var line = LogLine()
    private(set) var failure: String?
    var warnings: [String] = []
    /// The recipients who have the message.
    var served: [String] = []
    /// From the end of the content to the reply.
    var elapsed = TimeAmount.zero

    init(role: GatewayRole) { line.add("direction", role.rawValue) }

    mutating func describe(_ envelope: SMTPEnvelope) {
        line.add("queue_id", envelope.identifier)
        line.add("sender", envelope.sender.isEmpty ? "<>" : envelope.sender)
    }

    /// Adds what a worker said.
    mutating func add(_ log: WorkerLog) {
        line.add(log.fields, details: log.details)
        warnings += log.warnings
    }

    /// Adds a list after the status; an empty one is left out.
    mutating func addDetail(_ key: String, _ values: [String]) { line.addDetail(key, values) }

    mutating func fail(_ reason: String) { failure = failure ?? reason }

    /// The lines for the log.
    func lines(_ status: ServerMetrics.Result) -> [String] {
        line.lines(status: status.rawValue, error: failure, warnings: warnings, milliseconds: milliseconds)
    }

    /// All fields, for logs that keep them apart.
    func fields(_ status: ServerMetrics.Result) -> [LogField] {
        line.every(status: status.rawValue, error: failure, warnings: warnings, milliseconds: milliseconds)
    }

    private var milliseconds: String {
        let microseconds = elapsed.nanoseconds / 1000
        return "\(microseconds / 1000).\(microseconds % 1000 / 100)"
    }
}
