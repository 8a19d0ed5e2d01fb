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
        /// The message: an outgoing one as the rules require, an incoming one with its verdict.
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
        /// The verdict on the message: as decrypted by the gateway, if a rule permits this for a recipient, otherwise as
        /// received.
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
            try store.markAsServing()
            return try await store.mailHost()
        }
        engine = GatewayEngine(store, options)
    }

    /// The messages to send for an outgoing message. All are finished; send all of them, for example with `send`.
    ///
    /// The rules of the store decide, and the requests in the message as far as the rules permit: the field X-SMIME, and
    /// `[encrypt]` or `[sign]` in the subject.
    ///
    /// - Throws: `.refused` with sentences for the sender, `.deferred`, `.loop`, `.malformed`, `.limitExceeded`,
    ///   `.unusableSetting`, `.storeLocked`, `.storeUnusable`, `.storeBusy`. docs/library.md describes the replies to
    ///   the mail server.
    public func outgoing(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws(SMIMEError) -> [Delivery] {
        try await SMIMEError.inBackground {
            let engine = engine.forOneMessage()
            let mail = GatewayMail(.outgoing, try mail.outputEntity(), from: sender, to: recipients.map(\.text))
            try mail.checkEnvelopeAndContent()
            var context = engine.context(for: mail.recipients)
            let processed = try await engine.outgoing(mail, &context)
            return try await deliveries(of: processed, warnings: context.warnings.all)
        }
    }

    /// An incoming message with its verdict, decrypted for the recipients whose rules permit this.
    ///
    /// - Throws: `.malformed` for an empty message; `.refused` for an empty recipient, or an address that has control
    ///   characters or begins with a hyphen; `.storeLocked` if a rule permits decryption and the key cannot be opened;
    ///   `.mustBeEncrypted`, `.loop`, `.limitExceeded`, `.unusableSetting`, `.storeUnusable`, `.storeBusy`. Any other
    ///   fault of the message results in a verdict instead.
    public func incoming(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [String]
    ) async throws(SMIMEError) -> IncomingMessage {
        try await SMIMEError.inBackground {
            let engine = engine.forOneMessage()
            let mail = GatewayMail(.incoming, try mail.outputEntity(), from: sender, to: recipients)
            try mail.checkEnvelopeAndContent()
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
    /// - Throws: as `outgoing`, but not `.deferred` or `.loop`, and `.refused` only for an unsafe address in the envelope.
    public func explain(
        _ mail: Message,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws(SMIMEError) -> [PolicyDecision] {
        try await SMIMEError.inBackground {
            let engine = engine.forOneMessage()
            let mail = GatewayMail(.outgoing, try mail.outputEntity(), from: sender, to: recipients.map(\.text))
            try mail.checkEnvelopeAndContent()
            return try await engine.decisions(on: mail, engine.context(for: mail.recipients))
        }
    }

    private func deliveries(of mail: ProcessedMail, warnings: [String]) async throws -> [Delivery] {
        // If the answers of services cannot be stored, the services are queried again next time.
        let warnings = warnings + (await engine.keepAnswers(of: mail))
        return try mail.delivery.messages.map { message in
            try Delivery(
                message: Message(message.content),
                recipients: message.recipients,
                sender: message.sender ?? mail.delivery.sender,
                warnings: warnings
            )
        }
    }
}

/// Sends messages, for example through SMTP. `SendmailTransport` uses the sendmail program of the host's mail server.
public protocol MailTransport: Sendable {
    /// Sends one message to its recipients.
    ///
    /// When this returns, the transport is responsible for the message. When this throws, it has not accepted the message for
    /// any recipient.
    func send(_ delivery: Gateway.Delivery) async throws
}

extension SendmailTransport: MailTransport {
    /// Passes the message to the program on standard input, and waits for the program to end.
    ///
    /// - Throws: `SMIMEError` `.transport`, even if the program succeeds but has not read the whole message; errors of writing
    ///   the message.
    public func send(_ delivery: Gateway.Delivery) async throws {
        try await SMIMEError.inBackground {
            let content = try delivery.message.outputEntity().source
            _ = try await send(content, from: delivery.sender, to: delivery.recipients)
        }
    }
}

extension Gateway {
    /// Sends all messages that result from one mail, so that each recipient receives it once.
    ///
    /// The store records which recipients have received their message. If this throws, create the deliveries again later and
    /// send them with the same `queueID`: recipients who have received the message are left out. If a message is not
    /// accepted, the others are still sent. On one host, only one task or process at a time sends the same mail.
    ///
    /// If the task is cancelled, the message that `transport` is sending is still recorded, and the next ones are not sent.
    /// The call still waits for that record, and for another task that sends the same mail.
    ///
    /// - Parameters:
    ///   - deliveries: the result of `outgoing` or `incoming`.
    ///   - mail: the mail that was passed to `outgoing` or `incoming`, as received.
    ///   - queueID: the caller's name for the mail, the same in all attempts. A recipient gets mail with the same name and
    ///     bytes only once in 30 days.
    ///   - transport: sends the messages.
    /// - Returns: sentences for the administrator's log. They say that a record could not be written, so that another attempt
    ///   would send the mail again.
    /// - Throws: `.transport` with the error of `transport` as the `underlyingError`; an `SMIMEError` that `transport` throws;
    ///   `.storeReadOnly`, `.storeUnusable`; `.storeBusy` if another task or process has been sending the mail for 30 seconds;
    ///   `.file` for a full disk; `.cancelled`. Nothing was sent if the store could not be written at the beginning.
    @discardableResult
    public func send(
        _ deliveries: [Delivery],
        of mail: Message,
        queueID: String,
        through transport: some MailTransport
    ) async throws(SMIMEError) -> [String] {
        try await SMIMEError.inBackground {
            let warnings = WarningList()
            let entry = try DeliveryJournal.Entry(queueID: queueID, of: mail.outputEntity().source)
            // A record that cannot be written must be noticed before anything is sent.
            try await engine.store.journal.check(at: .now)
            try await engine.store.send(
                to: deliveries.map(\.recipients),
                of: entry,
                at: .now,
                timeout: 60,
                warn: { warnings.add($0) }
            ) { index, recipients in
                do { try await transport.send(deliveries[index].forSome(recipients)) } catch {
                    throw SMIMEError(thrownByTransport: error)
                }
            }
            return warnings.all
        }
    }
}

extension Gateway.Delivery {
    /// The same message for some of its recipients.
    fileprivate func forSome(_ recipients: [String]) -> Self {
        Self(message: message, recipients: recipients, sender: sender, warnings: warnings)
    }
}

extension SMIMEError {
    /// Converts an error that a caller's transport threw.
    fileprivate init(thrownByTransport error: any Error) {
        switch error {
        case is SMIMEError, is CancellationError: self.init(error)
        case let error as any CodedError: self.init(.transport, error.description, underlyingError: error)
        // The text of a foreign error may contain anything, such as an address with a password.
        default: self.init(.transport, "the transport failed: \(type(of: error))", underlyingError: error)
        }
    }
}
