import NIOCore
import SMIMEGateway

/// What the log says of one message: who, what was decided and why, and how it ended.
struct MessageLog {
    private(set) var fields: [LogField]
    private(set) var failure: String?
    var warnings: [String] = []
    /// The recipients who have the message.
    var served: [String] = []
    /// From the end of the content to the reply.
    var elapsed = TimeAmount.zero

    init(role: GatewayRole) { fields = [LogField("direction", [role.rawValue])] }

    mutating func describe(_ envelope: SMTPEnvelope) {
        let identifier = envelope.xforward[.identifier].map { [$0] } ?? []
        add([
            LogField("queue_id", identifier),
            LogField("sender", [envelope.sender.isEmpty ? "<>" : envelope.sender]),
        ])
    }

    /// Adds fields; those without a value are left out.
    mutating func add(_ more: [LogField]) { fields += more.filter { !$0.values.isEmpty } }

    mutating func fail(_ reason: String) { failure = failure ?? reason }
}
