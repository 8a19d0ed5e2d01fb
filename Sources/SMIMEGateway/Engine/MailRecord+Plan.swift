import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension MailRecord {
    /// Adds the verdict on incoming mail, and the action for each recipient.
    mutating func add(_ plan: IncomingPlan) {
        let report = plan.deepestReport
        add("verdict", value: report.status.rawValue)
        add("signer", value: (report.plainSigner ?? report.signers.first)?.address)
        add(
            plan.messages.flatMap { message in
                message.recipients.map { RecipientValue($0, value: message.isDecrypted ? "decrypted" : "delivered") }
            }
        )
        let codes = report.signers.flatMap { report.reservations(about: $0) }.map(\.kind.rawValue)
        addDetail("reservations", Array(Set(codes)).sorted())
        addDetail("signer_certificate", report.signers.compactMap { $0.certificate.map { "\($0.fingerprint)" } })
        addDetail("cipher", Self.unique(report.layers.filter(\.kind.isEncryption).map(\.algorithm)))
        let opened = plan.messages.compactMap { message in
            message.decryption.flatMap { decryption in message.recipients.first.map { ($0, decryption) } }
        }
        addDetail("certificates", opened.map { RecipientValue($0, value: "\($1.certificate)") })
        addRules(opened.map { RecipientValue($0, value: "decrypt-at-gateway: \($1.rule)") })
    }

    /// Adds the decisions about outgoing mail.
    mutating func add(_ plan: OutgoingPlan) {
        add(
            plan.decisions.map { RecipientValue($0.recipient.text, value: $0.isPassed ? "passed" : $0.action.rawValue) }
        )
        addDetail("signer_certificate", value: plan.signerCertificate.map { "\($0)" })
        let encryptions = plan.encryptions
        addDetail("cipher", Self.unique(encryptions.map(\.cipher)))
        addDetail("certificates", encryptions.map { RecipientValue($0.recipient.text, value: "\($0.certificate)") })
        addDetail(
            "found_in",
            encryptions.compactMap { encryption in
                plan.sources[encryption.recipient].map { RecipientValue(encryption.recipient.text, value: $0.rawValue) }
            }
        )
        addRules(
            plan.decisions.map { decision in
                let axes = ["sign=", "encrypt="].compactMap { axis in decision.reasons.last { $0.hasPrefix(axis) } }
                return RecipientValue(decision.recipient.text, value: axes.joined(separator: "; "))
            }
        )
    }
}
