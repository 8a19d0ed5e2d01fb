import NIOCore
import SMIMEGateway

/// The log entry for one message: the sender and recipients, the decisions with their reasons, and the result.
package struct MessageLog {
    private var line = LogLine()
    private(set) var failure: String?
    var warnings: [String] = []
    /// The recipients whose copy the next hop accepted.
    var served: [String] = []
    /// The time from the end of the content to the end of handling.
    var elapsed = TimeAmount.zero

    init(role: GatewayRole) { line.add("direction", role.rawValue) }

    mutating func describe(_ envelope: SMTPEnvelope) {
        line.add("queue_id", envelope.identifier)
        line.add("sender", envelope.sender.isEmpty ? "<>" : envelope.sender)
        line.undecided = envelope.recipients.map(\.address)
    }

    /// Adds the log entries of a worker.
    mutating func add(_ log: WorkerLog) {
        line.add(log.fields, details: log.details)
        warnings += log.warnings
    }

    /// Adds a list after the status. An empty list is left out.
    mutating func addDetail(_ key: String, _ values: [String]) { line.addDetail(key, values) }

    mutating func fail(_ reason: String) { failure = failure ?? reason }

    /// The lines for the log.
    func lines(_ status: ServerMetrics.Result) -> [String] {
        line.lines(status: status.rawValue, error: failure, warnings: warnings, milliseconds: milliseconds)
    }

    /// All fields, for logs that store fields separately.
    func fields(_ status: ServerMetrics.Result) -> [LogField] {
        line.every(status: status.rawValue, error: failure, warnings: warnings, milliseconds: milliseconds)
    }

    private var milliseconds: String {
        let microseconds = elapsed.nanoseconds / 1000
        return "\(microseconds / 1000).\(microseconds % 1000 / 100)"
    }
}
