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

    /// The decisions in words, each followed by its reasons.
    var text: String {
        recipients.map { recipient in
            let lines = ["\(recipient.address): \(recipient.action)"] + recipient.reasons.map { "  \($0)" }
            return lines.map { $0.escapedForDisplay + "\n" }.joined()
        }.joined()
    }

    init(_ sender: EmailAddress?, _ decisions: [PolicyDecision]) {
        self.sender = sender?.text
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
