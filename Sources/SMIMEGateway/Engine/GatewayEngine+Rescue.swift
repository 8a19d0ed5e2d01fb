import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEStore

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
            case .outgoing: throw try await death(at: mail)
            case .incoming: try await unread(mail, &context)
            }
        }
    }

    /// Records that a process crashed while handling the mail. A mail without a queue ID is identified only by its
    /// bytes.
    private func death(at mail: GatewayMail) async throws -> GatewayRefusal {
        let entry = try mail.entry ?? DeliveryJournal.Entry(queueID: "", of: mail.source)
        let writable = try await Store.open(store.location, mode: .readWrite)
        let isKnown = try await writable.journal.recordDeath(at: entry, .now)
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
