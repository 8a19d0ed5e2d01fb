import InternetMessage
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

/// The policy decisions in reports.
struct PolicyReport: Encodable {
    struct RecipientLine: Encodable {
        let address: String
        let sign: String
        let encrypt: String
        let action: String
        let reasons: [String]
    }

    let sender: String?
    let recipients: [RecipientLine]
    /// What happens to the mail as a whole: `sent`, `bounce` or `defer`. A mail is sent to all its recipients or to none.
    let result: String

    /// The decisions in words, each followed by its reasons.
    var text: String {
        recipients.map { recipient in
            let lines = ["\(recipient.address): \(recipient.action)"] + recipient.reasons.map { "  \($0)" }
            return lines.map { $0.escapedForDisplay + "\n" }.joined()
        }.joined() + end
    }

    /// The line about the mail as a whole; empty if the mail is sent, or if the result is the action for every recipient.
    private var end: String {
        let deciding = recipients.filter { $0.action == result }.map(\.address)
        guard result != "sent", deciding.count < recipients.count else { return "" }
        let what = result == PolicyDecision.Action.bounce.rawValue ? "it returns to its sender" : "it waits"
        let names = deciding.joined(separator: ", ").escapedForDisplay
        return "The mail is sent to none of the recipients, because of \(names): \(what).\n"
    }

    init(_ sender: EmailAddress?, _ decisions: [PolicyDecision]) {
        self.sender = sender?.text
        let holding = [PolicyDecision.Action.bounce, .deferral].first { action in
            decisions.contains { $0.action == action }
        }
        result = holding?.rawValue ?? "sent"
        recipients = decisions.map { decision in
            RecipientLine(
                address: decision.recipient.text,
                sign: decision.sign.rawValue,
                encrypt: decision.encrypt.rawValue,
                action: decision.action.rawValue,
                reasons: decision.reasons
            )
        }
    }
}
