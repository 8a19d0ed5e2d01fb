import PKIX
package import SMIME
import SMIMEAgent
import SMIMEStore

/// Work after a delivery. The mail was sent, so an error here does not make the mail fail.
extension GatewayEngine {
    /// Stores the revocation services' answers that were received while `mail` was handled.
    ///
    /// - Returns: warnings about services that did not answer, and the reason if answers could not be stored.
    package func keepAnswers(of mail: ProcessedMail) async -> [String] {
        guard let services = mail.services else { return [] }
        return await services.warnings + [await services.keepOrExplain()].compactMap(\.self)
    }

    /// The journal entry of `mail` if deliveries can be recorded; otherwise nil. If the database server is read-only,
    /// incoming mail is delivered without a record, with a warning.
    package func recordedEntry(of mail: GatewayMail, warn: (String) -> Void) -> DeliveryJournal.Entry? {
        guard mail.role == .incoming, mail.entry != nil, store.journal.isOnReadOnlyServer else { return mail.entry }
        warn(
            "the database server is read-only, so the delivery is not recorded, and a second attempt may send the message again"
        )
        return nil
    }

    /// Whether the store can learn something new from `mail`. Also true if this cannot be determined: then `learn(from:)`
    /// reports the error.
    package func hasNews(_ mail: ProcessedMail) async -> Bool {
        guard let message = mail.learnable else { return false }
        let learning = Learning(in: mail.store ?? store.forOneMessage(), onChange: options.onChange)
        do { return try await learning.preview([message]).changesStore } catch { return true }
    }

    /// Learns the author's certificate from a verified message.
    ///
    /// - Returns: the fields for the log, and the reason if nothing could be learned.
    package func learn(from message: VerifiedMessage) async -> (record: MailRecord, warning: String?) {
        var record = MailRecord()
        let learning = Learning(in: store.forOneMessage(), onChange: options.onChange)
        do throws(KeystoreError) {
            guard let report = try await learning.learnWhatIsNew([message]) else {
                let isReadOnly = store.journal.isOnReadOnlyServer
                return (record, isReadOnly ? "not learned: the database server is read-only" : nil)
            }
            guard report.changesStore, let entry = report.entries.first else { return (record, nil) }
            record.add("learned", value: entry.kind.rawValue)
            record.addDetail("learned_certificate", value: "\(entry.certificate.fingerprint)")
            record.addDetail("known_certificate", value: entry.previous.map { "\($0.fingerprint)" })
            if entry.isHeld { record.addDetail("held", value: "yes") }
            return (record, nil)
        } catch {
            return (record, "not learned: \(error)")
        }
    }
}
