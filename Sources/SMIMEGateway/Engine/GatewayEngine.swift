package import PKIX
package import SMIME
package import SMIMEAgent
package import SMIMEStore

/// Handles a mail for a mail server until it is ready for delivery: determines the recipients who have not received it yet,
/// decides by the rules, and creates the finished messages.
///
/// One value handles any number of mails at once. The callers receive and send the mail: the commands of `filter`, the
/// resident server, and `Gateway`.
package struct GatewayEngine: Sendable {
    /// The caller's options, which supplement or override the store's settings.
    package struct Options: Sendable {
        /// Whether the system's trust anchors are trusted.
        package var systemAnchors = true
        /// The options for validating certificates. With `.hard`, outgoing mail is deferred if it cannot be sent because a
        /// revocation service does not answer.
        package var validation = ValidationOptions()
        /// Levels that override all rules for outgoing mail.
        package var levels = ProtectionRequest()
        /// Whether requests in outgoing mail are honored.
        package var honoursRequests = true
        /// This host; nil means the host in the settings, which are read for each mail.
        package var host: MailHost?
        /// Whether revocation services are queried regardless of the setting `revocation.online`.
        package var demandsServices = false
        /// How to treat a new certificate of a known sender.
        package var onChange = ChangePolicy.sameRoot
        /// The maximum size in bytes of a message that is held in memory. Longer messages are stored in private files
        /// without names.
        package var memoryLimit = 64 << 10
        /// Returns hints for an administrator about an error. A command uses this to name commands in the hints.
        package var hints: @Sendable (any Error) -> [String] = { _ in [] }

        package init() {}
    }

    let store: Store
    let options: Options

    package init(_ store: Store, _ options: Options = Options()) {
        self.store = store
        self.options = options
    }

    /// Signs, encrypts, verifies or decrypts `mail` according to the rules, for the recipients who have not received it
    /// yet. All resulting messages are finished.
    package func handle(_ mail: GatewayMail) async -> GatewayResult<ProcessedMail> {
        let engine = forOneMessage()
        return await engine.result(for: mail) { context in
            switch mail.role {
            case .outgoing: try await engine.outgoing(mail, &context)
            case .incoming: try await engine.incoming(mail, &context).mail
            }
        }
    }

    /// This engine with a view of the store for one mail: it checks once whether the store has changed, and then uses
    /// caches.
    func forOneMessage() -> GatewayEngine {
        GatewayEngine(store.forOneMessage(), options)
    }

    /// The data that is available while a mail is handled.
    struct MailContext {
        /// The recipients who have not received the mail yet.
        let recipients: [String]
        var record = MailRecord()
        let warnings: WarningList
        let services: OnlineRevocation

        var warn: @Sendable (String) -> Void { { [warnings] in warnings.add($0) } }
    }

    /// Runs `body` for the recipients who have not received `mail` yet, and converts an error to a refusal.
    func result<Value: Sendable>(
        for mail: GatewayMail,
        _ warnings: WarningList = WarningList(),
        _ body: (inout MailContext) async throws -> Value
    ) async -> GatewayResult<Value> {
        var record = MailRecord()
        func result(_ outcome: GatewayResult<Value>.Outcome) -> GatewayResult<Value> {
            GatewayResult(outcome: outcome, record: record, warnings: warnings.all)
        }
        do {
            try mail.checkEnvelopeAndContent()
            let waiting = try await waiting(for: mail)
            guard !waiting.isEmpty || mail.recipients.isEmpty else {
                record.add("actions", value: "sent before")
                return result(.sentBefore)
            }
            var context = context(for: waiting, warnings)
            defer { record = context.record }
            let value = try await body(&context)
            record = context.record
            return result(.finished(value))
        } catch {
            return result(.refused(await refusal(for: error, of: mail)))
        }
    }

    func context(for recipients: [String], _ warnings: WarningList = WarningList()) -> MailContext {
        let services = OnlineRevocation(StoreOpening(store), isDemanded: options.demandsServices)
        return MailContext(recipients: recipients, warnings: warnings, services: services)
    }

    private func waiting(for mail: GatewayMail) async throws -> [String] {
        guard let entry = mail.entry else { return mail.recipients }
        let waiting = try await store.journal.undelivered(mail.recipients, for: entry)
        // If the delivery cannot be recorded, another attempt, perhaps by another gateway, would send the mail again.
        // Incoming mail is handled nevertheless.
        guard mail.role == .incoming || waiting.isEmpty || !store.journal.isOnReadOnlyServer else {
            throw GatewayRefusal(
                .temporary,
                "4.3.0",
                explanation: "the database server is read-only, so deliveries cannot be recorded"
            )
        }
        return waiting
    }

    private func refusal(for error: any Error, of mail: GatewayMail) async -> GatewayRefusal {
        var refusal = GatewayRefusal(error, in: mail.role)
        if let cause = refusal.cause { refusal.hints += options.hints(cause) }
        if refusal.isPermanent { refusal.bounceText = await bounceText(for: mail.sender) }
        return refusal
    }

    /// The sentence for people in a bounce to `sender`; the default text if the store cannot be read.
    package func bounceText(for sender: EnvelopeSender) async -> String {
        (try? await store.bounceText(for: sender.address)) ?? Setting.bounceText.standard
    }

    /// The host that the options name, or otherwise the host in the store's settings.
    func host() async throws -> MailHost {
        if let host = options.host { host } else { try await store.mailHost() }
    }
}

/// The result for a mail that is not sent yet, with the fields and warnings for the log.
package struct GatewayResult<Value: Sendable>: Sendable {
    /// How handling the mail ended.
    package enum Outcome: Sendable {
        case finished(Value)
        /// According to the journal, all recipients have already received the mail.
        case sentBefore
        case refused(GatewayRefusal)
    }

    package let outcome: Outcome
    /// The fields for the log, as far as the mail was handled.
    package let record: MailRecord
    /// The warnings for the administrator, in chronological order.
    package let warnings: [String]
}

/// A mail that was signed, encrypted, verified or decrypted. All resulting messages are finished, and all of them must be
/// sent.
///
/// Call `GatewayEngine.keepAnswers(of:)`, and `learn(from:)` after the delivery.
package struct ProcessedMail: Sendable {
    /// The resulting messages with their recipients.
    package let delivery: Delivery
    /// The message to learn from after the delivery; nil if there is nothing to learn.
    package let learnable: VerifiedMessage?
    /// The queries to revocation services; nil if there could be none.
    let services: OnlineRevocation?
    /// The view of the store with which the mail was handled; nil if there is nothing to learn.
    let store: Store?

    init(
        _ delivery: Delivery,
        learnable: VerifiedMessage? = nil,
        services: OnlineRevocation? = nil,
        store: Store? = nil
    ) {
        self.delivery = delivery
        self.learnable = learnable
        self.services = services
        self.store = store
    }
}
