import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension GatewayEngine {
    /// The verdict on an incoming mail, and the messages that would be delivered.
    package func verdict(on mail: GatewayMail) async -> GatewayResult<IncomingPlan> {
        let engine = forOneMessage()
        return await engine.result(for: mail) { try await engine.plan(mail, &$0) }
    }

    func incoming(
        _ mail: GatewayMail,
        _ context: inout MailContext
    ) async throws -> (mail: ProcessedMail, report: VerificationReport) {
        let plan = try await plan(mail, &context)
        // The mail server returns undeliverable mail to its envelope sender. An attacker who sent another person's
        // ciphertext must not get the decrypted text this way.
        let returned = try await store.decryptedSender().text
        let messages = try plan.messages.map { message in
            Delivery.Message(
                try Spool.source(memoryLimit: options.memoryLimit) { try message.source.reader().copy(to: $0) },
                to: message.recipients,
                from: message.isDecrypted ? returned : nil
            )
        }
        try mail.source.checkUnchanged()
        let delivery = Delivery(from: mail.sender.text, messages)
        let processed = ProcessedMail(
            delivery,
            learnable: plan.learnable,
            services: context.services,
            store: store
        )
        return (processed, plan.deepestReport)
    }

    private func plan(_ mail: GatewayMail, _ context: inout MailContext) async throws -> IncomingPlan {
        let filter = IncomingFilter(
            store: store,
            provider: StoreKeyProvider(store, systemAnchors: options.systemAnchors, warn: context.warn),
            time: .now,
            host: try await host(),
            options: options.validation,
            revocation: context.services,
            warn: context.warn
        )
        let structure = try mail.readStructure()
        // Mail from an account of this store that must be encrypted must not pass unencrypted as incoming mail.
        try await RequiredEncryption(store: store).check(
            mail.source,
            structure: structure,
            from: mail.sender,
            to: context.recipients
        )
        let plan = try await filter.plan(mail.source, structure: structure, to: context.recipients)
        context.record.add(plan)
        return plan
    }
}
