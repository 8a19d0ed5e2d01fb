import ByteStreams
import Foundation
public import InternetMessage
public import SMIME
import SMIMEAgent
public import SMIMEStore

/// Applies the rules of a store to outgoing mail, and verifies incoming mail, for a mail server.
///
/// All tasks may share one value. It makes messages, and sends nothing.
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

    private let store: Store
    private let isAskingDemanded: Bool
    private let host: MailHost

    /// - Parameters:
    ///   - store: the store with the rules, settings, keys and certificates.
    ///   - online: whether services are asked about revocation whatever the setting `revocation.online` says.
    /// - Throws: `.unusableSetting`, `.storeUnusable`, `.storeBusy`
    public init(_ store: Store, online: Bool = false) async throws(SMIMEError) {
        self.store = store
        isAskingDemanded = online
        host = try await SMIMEError.inBackground { try await store.mailHost() }
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
            let asked = OnlineRevocation(StoreOpening(store), isDemanded: isAskingDemanded)
            let filter = OutgoingFilter(store: store, time: .now, revocation: asked, host: host)
            let plan = try await filter.plan(mail.settledSource(), from: sender, to: recipients)
            try plan.checkAllGo()
            let deliveries = try plan.messages.map { message in
                try Delivery(
                    message: Message { try plan.write(message, to: $0) },
                    recipients: message.recipients.map(\.text),
                    sender: sender.text
                )
            }
            // If the answers of services cannot be stored, they are asked again next time.
            _ = await asked.keep()
            return deliveries
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
            let source = try mail.settledSource()
            // Our own people's mail that must be encrypted does not go on in clear by this way.
            try await RequiredEncryption(store: store).check(source, from: sender, to: recipients)
            let asked = OnlineRevocation(StoreOpening(store), isDemanded: isAskingDemanded)
            let filter = IncomingFilter(store: store, time: .now, host: host, revocation: asked)
            let plan = try await filter.plan(source, to: recipients)
            // A bounce of decrypted mail must not go back in clear to the sender of the ciphertext.
            let decryptedSender = try await store.decryptedSender().text
            let deliveries = try plan.messages.map { message in
                try Delivery(
                    message: Message { try message.source.reader().copy(to: $0) },
                    recipients: message.recipients,
                    sender: message.isDecrypted ? decryptedSender : sender.text
                )
            }
            // If the answers of services cannot be stored, they are asked again next time.
            _ = await asked.keep()
            return IncomingMessage(deliveries: deliveries, report: plan.deepestReport, learnable: plan.learnable)
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
            let asked = OnlineRevocation(StoreOpening(store), isDemanded: isAskingDemanded)
            return try await OutgoingFilter(store: store, time: .now, revocation: asked, host: host)
                .decisions(on: mail.settledSource(), from: sender, to: recipients)
        }
    }
}
