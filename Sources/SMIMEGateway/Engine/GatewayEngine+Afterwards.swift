import PKIX
package import SMIME
import SMIMEAgent
import SMIMEStore

/// Work after a delivery. The mail is on its way, so an error here does not fail it.
extension GatewayEngine {
    /// Keeps what services said about revocation while `mail` was handled.
    ///
    /// - Returns: warnings: services that did not answer, and why answers could not be kept.
    package func keepAnswers(of mail: ProcessedMail) async -> [String] {
        guard let services = mail.services else { return [] }
        return await services.warnings + [await services.keepOrExplain()].compactMap(\.self)
    }

    /// The journal's name of `mail` where deliveries can be recorded. Where the store's server only reads, only incoming mail goes on
    /// without.
    package func recordedEntry(of mail: GatewayMail, warn: (String) -> Void) -> DeliveryJournal.Entry? {
        guard mail.role == .incoming, mail.entry != nil, store.journal.isOnReadOnlyServer else { return mail.entry }
        warn("the store's server only reads, so a second attempt may send the message twice")
        return nil
    }

    /// Whether `mail` has something to learn that the store does not know yet. True also where that cannot be told: `learn(from:)` then
    /// says why.
    package func hasNews(_ mail: ProcessedMail) async -> Bool {
        guard let message = mail.learnable else { return false }
        let learning = Learning(in: mail.store ?? store.atOneMoment(), onChange: options.onChange)
        do { return try await learning.preview([message]).changesStore } catch { return true }
    }

    /// Learns the author's certificate from a verified message.
    ///
    /// - Returns: what the log says of it, and the reason if it could not be learned.
    package func learn(from message: VerifiedMessage) async -> (record: MailRecord, warning: String?) {
        var record = MailRecord()
        let learning = Learning(in: store.atOneMoment(), onChange: options.onChange)
        do throws(KeystoreError) {
            guard let report = try await learning.learnWhatIsNew([message]) else {
                let isReadOnly = store.journal.isOnReadOnlyServer
                return (record, isReadOnly ? "not learned: the store's server only reads" : nil)
            }
            guard report.changesStore, let entry = report.entries.first else { return (record, nil) }
            record.add("learned", entry.kind.rawValue)
            record.addDetail("learned_certificate", "\(entry.certificate.fingerprint)")
            record.addDetail("known_certificate", entry.previous.map { "\($0.fingerprint)" })
            if entry.isHeld { record.addDetail("held", "yes") }
            return (record, nil)
        } catch {
            return (record, "not learned: \(error)")
        }
    }
}
