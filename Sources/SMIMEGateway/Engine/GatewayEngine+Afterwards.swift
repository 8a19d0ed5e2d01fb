import ByteStreams
import Foundation
import PKIX
package import SMIME
import SMIMEAgent
import SMIMEStore

/// Work that the delivery does not need. An error here does not make the mail fail.
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

extension GatewayEngine {
    /// Handles `mail` after `signal` ended a process that was handling it. Avoids the code that may have crashed.
    ///
    /// Outgoing mail is deferred for one more attempt; after a second crash it is returned to its sender. Incoming mail is
    /// delivered with the verdict `permerror`, which replaces forged verdicts. It is rejected if the envelope sender must
    /// encrypt for a recipient, because this code cannot determine whether the mail is encrypted.
    package func rescue(_ mail: GatewayMail, signal: Int32) async -> GatewayResult<ProcessedMail> {
        let warnings = WarningList()
        warnings.add("the gateway crashed while handling this message (signal \(signal))")
        return await result(for: mail, warnings) { context in
            switch mail.role {
            case .outgoing: throw try await crashRefusal(for: mail)
            case .incoming: try await unread(mail, &context)
            }
        }
    }

    /// Records that a process crashed while handling the mail, and returns the refusal. A mail without a queue ID is
    /// identified only by its bytes.
    private func crashRefusal(for mail: GatewayMail) async throws -> GatewayRefusal {
        let entry = try mail.entry ?? DeliveryJournal.Entry(queueID: "", of: mail.source)
        let writable = try await Store.open(store.location, mode: .readWrite)
        let isKnown = try await writable.journal.recordCrash(at: entry, .now)
        try await writable.close()
        return isKnown
            ? GatewayRefusal(
                .message,
                "5.6.0",
                explanation: "the message cannot be processed: the gateway crashed twice while handling it"
            )
            : GatewayRefusal(
                .temporary,
                "4.3.0",
                explanation: "the gateway crashed while handling this message, which is tried once more"
            )
    }

    private func unread(_ mail: GatewayMail, _ context: inout MailContext) async throws -> ProcessedMail {
        try await RequiredEncryption(store: store).checkEnvelope(from: mail.sender, to: context.recipients)
        let message = try UnparsedMessage(
            mail.source,
            by: try await host(),
            tagsSubjects: try await store.tagsSubjects()
        )
        context.record.add("verdict", value: "permerror")
        context.record.add(context.recipients.map { MailRecord.RecipientValue($0, value: "delivered") })
        let content = try Spool.source(memoryLimit: options.memoryLimit) { try message.write(to: $0) }
        return ProcessedMail(Delivery(from: mail.sender.text, [Delivery.Message(content, to: context.recipients)]))
    }
}
