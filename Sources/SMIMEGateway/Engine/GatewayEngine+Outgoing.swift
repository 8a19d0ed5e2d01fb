import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension GatewayEngine {
    /// The decision for each recipient of an outgoing mail, with its reasons. No private key is used.
    package func decisions(on mail: GatewayMail) async -> GatewayResult<[PolicyDecision]> {
        let engine = forOneMessage()
        return await engine.result(for: mail) { try await engine.decisions(on: mail, $0) }
    }

    func decisions(on mail: GatewayMail, _ context: MailContext) async throws -> [PolicyDecision] {
        let recipients = try await addresses(context.recipients)
        return try await filter(mail, context).decisions(
            on: mail.source,
            structure: mail.structure,
            from: mail.sender,
            to: recipients
        )
    }

    func outgoing(_ mail: GatewayMail, _ context: inout MailContext) async throws -> ProcessedMail {
        let recipients = try await addresses(context.recipients)
        let plan = try await filter(mail, context).plan(
            mail.source,
            structure: mail.structure,
            from: mail.sender,
            to: recipients
        )
        context.record.add(plan)
        let hasOutages = await context.services.hasOutages
        try plan.checkSendable(waitsForServices: hasOutages && options.validation.revocation == .hard)
        // All messages are finished before the first one is sent.
        let messages = try plan.messages.map { message in
            // Each recipient stays as written in the envelope: `<postmaster>` gets no domain.
            let texts = Set(message.recipients.map { ExactText($0.text) })
            return Delivery.Message(
                try Spool.source(memoryLimit: options.memoryLimit) { try plan.write(message, to: $0) },
                to: zip(context.recipients, recipients).filter { texts.contains(ExactText($1.text)) }.map(\.0)
            )
        }
        return ProcessedMail(Delivery(from: mail.sender.text, messages), services: context.services)
    }

    private func filter(_ mail: GatewayMail, _ context: MailContext) async throws -> OutgoingFilter {
        OutgoingFilter(
            store: store,
            time: .now,
            systemAnchors: options.systemAnchors,
            options: options.validation,
            revocation: context.services,
            flags: options.levels,
            honoursRequests: options.honoursRequests,
            host: try await host(),
            message: mail.entry?.digest ?? mail.digestOfBeginning,
            warn: context.warn
        )
    }

    /// The addresses by which rules and certificates for `recipients` are found. `postmaster` without a domain is the
    /// postmaster of the gateway's mail server.
    ///
    /// RFC 5321 §4.1.1.3
    ///
    /// - Throws: `GatewayRefusal` that lists all recipients for whom there is no such address.
    private func addresses(_ recipients: [String]) async throws -> [EmailAddress] {
        let host = recipients.contains(where: { !$0.contains("@") }) ? try await host().name : ""
        let addresses = recipients.map { EmailAddress(recipient: $0, on: host) }
        let broken = zip(recipients, addresses).filter { $1 == nil }.map(\.0)
        guard broken.isEmpty else { throw GatewayRefusal.malformedRecipients(broken) }
        return addresses.compactMap(\.self)
    }
}
