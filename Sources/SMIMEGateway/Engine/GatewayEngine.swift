package import PKIX
import SMIME
package import SMIMEAgent
package import SMIMEStore

/// Handles a mail for a mail server up to the delivery: the recipients who do not have it yet, the rules' decisions, and the finished
/// forms.
///
/// One value serves any number of mails at once. Receiving and sending are up to its callers: the commands of `filter`, the resident
/// server, and `Gateway`.
package struct GatewayEngine: Sendable {
    /// What a caller wants otherwise than the store's settings say.
    package struct Options: Sendable {
        /// Whether the system's trust anchors count.
        package var systemAnchors = true
        /// How strictly certificates are judged. With `.hard`, outgoing mail that fails for a service that does not answer waits.
        package var validation = ValidationOptions()
        /// Levels that override all rules for outgoing mail.
        package var levels = ProtectionRequest()
        /// Whether outgoing messages may ask for anything.
        package var honoursRequests = true
        /// This host; nil is the host of the settings, read for each mail.
        package var host: MailHost?
        /// Whether services are asked about revocation whatever the setting `revocation.online` says.
        package var demandsServices = false
        /// How a new certificate of a known sender is treated.
        package var onChange = ChangePolicy.sameRoot
        /// The bytes of each form that are kept in memory; longer forms are in private files without names.
        package var memoryLimit = 64 << 10
        /// Makes hints for an administrator about an error. A command puts names of commands into them.
        package var hints: @Sendable (any Error) -> [String] = { _ in [] }

        package init() {}
    }

    let store: Store
    let options: Options

    package init(_ store: Store, _ options: Options = Options()) {
        self.store = store
        self.options = options
    }

    /// Signs, encrypts, verifies or decrypts `mail` as the rules say, for the recipients who do not have it yet. Returns all forms
    /// finished.
    package func handle(_ mail: GatewayMail) async -> GatewayResult<ProcessedMail> {
        let engine = atOneMoment()
        return await engine.result(for: mail) { work in
            switch mail.role {
            case .outgoing: try await engine.outgoing(mail, &work)
            case .incoming: try await engine.incoming(mail, &work).mail
            }
        }
    }

    /// The engine on the store as it is now: changes are looked for once, and then caches answer for the whole mail.
    func atOneMoment() -> GatewayEngine {
        GatewayEngine(store.atOneMoment(), options)
    }

    /// What is at hand while a mail is handled.
    struct Work {
        /// The recipients who do not have the mail yet.
        let recipients: [String]
        var record = MailRecord()
        let warnings: WarningList
        let services: OnlineRevocation

        var warn: @Sendable (String) -> Void { { [warnings] in warnings.add($0) } }
    }

    /// Runs `body` for the recipients who do not have `mail` yet, and turns an error into a refusal.
    func result<Value: Sendable>(
        for mail: GatewayMail,
        _ warnings: WarningList = WarningList(),
        _ body: (inout Work) async throws -> Value
    ) async -> GatewayResult<Value> {
        var record = MailRecord()
        func result(_ outcome: GatewayResult<Value>.Outcome) -> GatewayResult<Value> {
            GatewayResult(outcome: outcome, record: record, warnings: warnings.all)
        }
        do {
            if let fault = GatewayMail.envelopeFault(from: mail.sender, to: mail.recipients) { throw fault }
            guard mail.source.count > 0 else { throw GatewayRefusal.emptyMessage() }
            let waiting = try await waiting(for: mail)
            guard !waiting.isEmpty || mail.recipients.isEmpty else {
                record.add("actions", "sent before")
                return result(.sentBefore)
            }
            var work = work(for: waiting, warnings)
            defer { record = work.record }
            let value = try await body(&work)
            record = work.record
            return result(.finished(value))
        } catch {
            return result(.refused(await refusal(for: error, of: mail)))
        }
    }

    func work(for recipients: [String], _ warnings: WarningList = WarningList()) -> Work {
        let services = OnlineRevocation(StoreOpening(store), isDemanded: options.demandsServices)
        return Work(recipients: recipients, warnings: warnings, services: services)
    }

    private func waiting(for mail: GatewayMail) async throws -> [String] {
        guard let entry = mail.entry else { return mail.recipients }
        let waiting = try await store.journal.waiting(mail.recipients, for: entry)
        // Another attempt, perhaps by another gateway, would send again what this one cannot record. Verifying goes on.
        guard mail.role == .incoming || waiting.isEmpty || !store.journal.isOnReadOnlyServer else {
            throw GatewayRefusal(
                .temporary,
                "4.3.0",
                explanation: "\(store.location.path): the server only reads, so deliveries cannot be recorded"
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

    /// The sentence for people in a bounce to `sender`; the standard text if the store cannot be asked.
    package func bounceText(for sender: EnvelopeSender) async -> String {
        (try? await store.bounceText(for: sender.address)) ?? Setting.bounceText.standard
    }

    /// This host: of the options, else of the settings.
    func host() async throws -> MailHost {
        if let host = options.host { host } else { try await store.mailHost() }
    }
}
