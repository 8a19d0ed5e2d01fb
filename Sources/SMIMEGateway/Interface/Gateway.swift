import ByteStreams
import Foundation
public import InternetMessage
public import SMIME
import SMIMEAgent
public import SMIMEStore

/// Applies the rules of a store to outgoing mail and verifies incoming mail, for a mail server.
///
/// One value can be used by all tasks. It creates messages; `send` sends them.
public struct Gateway: Sendable {
    /// A finished message and its recipients.
    public struct Delivery: Sendable {
        /// The message, signed, encrypted or marked as required.
        public let message: Message
        /// The envelope's recipients, as passed by the caller.
        public let recipients: [String]
        /// The envelope sender; empty for the null sender.
        public let sender: String
        /// Sentences for the administrator's log, such as why the mail is not encrypted for a recipient. They are the same for
        /// all deliveries of a mail.
        public let warnings: [String]
    }

    /// The result for an incoming message.
    public struct IncomingMessage: Sendable {
        /// The messages to deliver.
        public let deliveries: [Delivery]
        /// The verdict on the message as received.
        public let report: VerificationReport
        /// The message for `Store.learn` after the delivery; nil unless the message is valid.
        public let learnable: VerifiedMessage?
    }

    let engine: GatewayEngine

    /// A gateway with an existing store. Without rules and keys all mail would pass in clear, so open the store with
    /// `.readWriteExisting` or `.readOnly`: a wrong path is then an error and creates no empty store.
    ///
    /// - Parameters:
    ///   - store: the store with the rules, settings, keys and certificates.
    ///   - online: whether revocation services are queried regardless of the setting `revocation.online`.
    /// - Throws: `.storeUnusable` if there is no store, or if it cannot be used; `.unusableSetting`, `.storeBusy`
    public init(_ store: Store, online: Bool = false) async throws(SMIMEError) {
        var options = GatewayEngine.Options()
        options.demandsServices = online
        options.memoryLimit = Spool.memoryLimit
        options.host = try await SMIMEError.inBackground {
            try store.noteService()
            return try await store.mailHost()
        }
        engine = GatewayEngine(store, options)
    }

    /// The messages to send for an outgoing message. All are finished; send all of them, for example with `send`.
    ///
    /// - Throws: `.refused` with sentences for the sender, `.deferred`, `.loop`, `.malformed`, `.unusableSetting`,
    ///   `.storeLocked`, `.storeUnusable`, `.storeBusy`. docs/library.md describes the replies to the mail server.
    public func outgoing(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws(SMIMEError) -> [Delivery] {
        try await SMIMEError.inBackground {
            let engine = engine.forOneMessage()
            let mail = GatewayMail(.outgoing, try mail.settledMessage(), from: sender, to: recipients.map(\.text))
            try mail.check()
            var context = engine.context(for: mail.recipients)
            let processed = try await engine.outgoing(mail, &context)
            return try await deliveries(of: processed, warnings: context.warnings.all)
        }
    }

    /// An incoming message with its verdict, decrypted for the recipients whose rules permit this.
    ///
    /// - Throws: `.malformed` for an empty message; `.refused` for an address with control characters, or one that begins with
    ///   a hyphen; `.mustBeEncrypted`, `.loop`, `.limitExceeded`, `.unusableSetting`, `.storeUnusable`, `.storeBusy`. Any other
    ///   fault of the message results in a verdict instead.
    public func incoming(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [String]
    ) async throws(SMIMEError) -> IncomingMessage {
        try await SMIMEError.inBackground {
            let engine = engine.forOneMessage()
            let mail = GatewayMail(.incoming, try mail.settledMessage(), from: sender, to: recipients)
            try mail.check()
            var context = engine.context(for: recipients)
            let (processed, report) = try await engine.incoming(mail, &context)
            return try await IncomingMessage(
                deliveries: deliveries(of: processed, warnings: context.warnings.all),
                report: report,
                learnable: processed.learnable
            )
        }
    }

    /// The decision for each recipient of an outgoing message, with its reasons. No private key is used.
    ///
    /// - Throws: as `outgoing`, but neither `.refused` nor `.deferred`.
    public func explain(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws(SMIMEError) -> [PolicyDecision] {
        try await SMIMEError.inBackground {
            let engine = engine.forOneMessage()
            let mail = GatewayMail(.outgoing, try mail.settledMessage(), from: sender, to: recipients.map(\.text))
            try mail.check()
            return try await engine.decisions(on: mail, engine.context(for: mail.recipients))
        }
    }

    private func deliveries(of mail: ProcessedMail, warnings: [String]) async throws -> [Delivery] {
        let deliveries = try mail.delivery.messages.map { message in
            try Delivery(
                message: Message(message.content),
                recipients: message.recipients,
                sender: message.sender ?? mail.delivery.sender,
                warnings: warnings
            )
        }
        // If the answers of services cannot be stored, the services are queried again next time.
        _ = await engine.keepAnswers(of: mail)
        return deliveries
    }
}
