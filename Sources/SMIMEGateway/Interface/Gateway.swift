import ByteStreams
import Foundation
public import InternetMessage
public import SMIME
import SMIMEAgent
public import SMIMEStore

/// Applies the rules of a store to outgoing mail, and verifies incoming mail, for a mail server.
///
/// One value serves all tasks. It makes messages, and does not send them.
public struct Gateway: Sendable {
    /// A finished message and its recipients.
    public struct Delivery: Sendable {
        /// The message, signed, encrypted or marked as it has to be.
        public let message: Message
        /// The envelope's recipients, as they were given.
        public let recipients: [String]
        /// The envelope's sender; empty for the null sender.
        public let sender: String
    }

    /// The result for an incoming message.
    public struct IncomingMessage: Sendable {
        /// The messages to deliver.
        public let deliveries: [Delivery]
        /// The verdict on the message as it came.
        public let report: VerificationReport
        /// The message for `Store.learn` after the delivery; nil unless the message is valid.
        public let learnable: VerifiedMessage?
    }

    private let engine: GatewayEngine

    /// - Parameters:
    ///   - store: the store with the rules, settings, keys and certificates.
    ///   - online: whether services are asked about revocation whatever the setting `revocation.online` says.
    /// - Throws: `.unusableSetting`, `.storeUnusable`, `.storeBusy`
    public init(_ store: Store, online: Bool = false) async throws(SMIMEError) {
        var options = GatewayEngine.Options()
        options.demandsServices = online
        options.memoryLimit = Spool.memoryLimit
        options.host = try await SMIMEError.inBackground { try await store.mailHost() }
        engine = GatewayEngine(store, options)
    }

    /// The forms of an outgoing message, all finished; send all of them or none.
    ///
    /// - Throws: `.refused` with sentences for the sender, `.deferred`, `.loop`, `.malformed`, `.unusableSetting`,
    ///   `.storeLocked`, `.storeUnusable`, `.storeBusy`; docs/library.md says what to answer the mail server.
    public func outgoing(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws(SMIMEError) -> [Delivery] {
        try await SMIMEError.inBackground {
            let engine = engine.atOneMoment()
            let mail = GatewayMail(.outgoing, try mail.settledSource(), from: sender, to: recipients.map(\.text))
            if let fault = GatewayMail.envelopeFault(from: sender, to: mail.recipients) { throw fault }
            var work = engine.work(for: mail.recipients)
            return try await deliveries(of: engine.outgoing(mail, &work))
        }
    }

    /// An incoming message with its verdict, decrypted for the recipients whose rule allows it.
    ///
    /// - Throws: `.mustBeEncrypted`, `.loop`, `.limitExceeded`, `.unusableSetting`, `.storeUnusable`, `.storeBusy`. Any
    ///   other fault of the message becomes a verdict.
    public func incoming(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [String]
    ) async throws(SMIMEError) -> IncomingMessage {
        try await SMIMEError.inBackground {
            let engine = engine.atOneMoment()
            let mail = GatewayMail(.incoming, try mail.settledSource(), from: sender, to: recipients)
            if let fault = GatewayMail.envelopeFault(from: sender, to: recipients) { throw fault }
            var work = engine.work(for: recipients)
            let (processed, report) = try await engine.incoming(mail, &work)
            return try await IncomingMessage(
                deliveries: deliveries(of: processed),
                report: report,
                learnable: processed.learnable
            )
        }
    }

    /// What would happen to an outgoing message, for each recipient, and why; no key is used.
    ///
    /// - Throws: as `outgoing`, but neither `.refused` nor `.deferred`.
    public func explain(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws(SMIMEError) -> [PolicyDecision] {
        try await SMIMEError.inBackground {
            let engine = engine.atOneMoment()
            let mail = GatewayMail(.outgoing, try mail.settledSource(), from: sender, to: recipients.map(\.text))
            return try await engine.decisions(on: mail, engine.work(for: mail.recipients))
        }
    }

    private func deliveries(of mail: ProcessedMail) async throws -> [Delivery] {
        let deliveries = try mail.delivery.messages.map { message in
            try Delivery(
                message: Message(message.content),
                recipients: message.recipients,
                sender: message.sender ?? mail.delivery.sender
            )
        }
        // If the answers of services cannot be stored, they are asked again next time.
        _ = await engine.keepAnswers(of: mail)
        return deliveries
    }
}
