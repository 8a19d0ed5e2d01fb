package import ByteStreams
package import Foundation
package import InternetMessage
package import PKIX
import SMIME
package import SMIMEAgent
package import SMIMEStore

/// Applies the sending policy to outgoing mail.
///
/// Sources, tags and ciphers that the caller leaves out are taken from the store's settings, which are read for each
/// message, so that a server that shares a store with `smime` follows changed settings.
package struct OutgoingFilter: Sendable {
    let store: Store
    let time: Date
    let systemAnchors: Bool
    let sources: [any CertificateSource]?
    let options: ValidationOptions
    let revocation: (any RevocationSource)?
    let flags: ProtectionRequest
    let tags: SubjectTags?
    private let ciphers: CipherPreferences?
    let honoursRequests: Bool
    let host: MailHost?
    let message: [UInt8]?
    let warn: @Sendable (String) -> Void

    /// A filter that reads rules, keys and certificates from `store`, and validates certificates at `time`. Create a new
    /// filter for each message, or for messages that are handled at the same time.
    ///
    /// - Parameters:
    ///   - systemAnchors: whether the system's trust anchors are trusted.
    ///   - sources: the sources of recipients' certificates in addition to the store; nil means the settings `lookup.…`.
    ///   - options: the options for validating recipients' certificates, and whether revocation of the sender's
    ///     certificates is checked. The revocation lists in the folder `revocation.directory` are added.
    ///   - revocation: the services to query if the local data does not decide. Nil means none, regardless of the setting
    ///     `revocation.online`; `OnlineRevocation` respects that setting.
    ///   - flags: levels that override all rules.
    ///   - tags: the requests that subjects may contain; nil means the setting `subject-tags`.
    ///   - ciphers: the cipher for recipients with unknown capabilities, and the weakest permitted cipher; nil means the
    ///     settings `encryption.…`.
    ///   - honoursRequests: whether requests in mail are honored.
    ///   - host: the host that marks changed messages. Nil means that messages are not marked, and loops are not detected.
    ///   - message: the same bytes at each attempt to send one message (`RecipientLookup.message`); nil if there is only one
    ///     attempt.
    ///   - warn: called with warnings: about protection that is not possible, sources that cannot be queried, files that are
    ///     not revocation lists, and requests that are ignored or not understood.
    package init(
        store: Store,
        time: Date,
        systemAnchors: Bool = true,
        sources: [any CertificateSource]? = nil,
        options: ValidationOptions = ValidationOptions(),
        revocation: (any RevocationSource)? = nil,
        flags: ProtectionRequest = ProtectionRequest(),
        tags: SubjectTags? = nil,
        ciphers: CipherPreferences? = nil,
        honoursRequests: Bool = true,
        host: MailHost? = nil,
        message: [UInt8]? = nil,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.time = time
        self.systemAnchors = systemAnchors
        self.sources = sources
        self.options = options
        self.revocation = revocation
        self.flags = flags
        self.tags = tags
        self.ciphers = ciphers
        self.honoursRequests = honoursRequests
        self.host = host
        self.message = message
        self.warn = warn
    }

    /// The plan for the message in `source`, which `sender` sends to `recipients`.
    ///
    /// - Parameter structure: the structure of the message; nil reads it.
    /// - Throws: `MIMEError` if the message cannot be read; `MessageError` if the subject is too long or has a tag that
    ///   cannot be removed, or if programs may read the header differently (`OutgoingPlan.checkSendable` reports other
    ///   faults of the form); `GatewayError.loop` if this host has changed the message too often; `KeystoreError`;
    ///   `SettingError`; what reading the source throws.
    package func plan(
        _ source: any ByteSource,
        structure: Entity? = nil,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws -> OutgoingPlan {
        let (controls, found, prepared) = try await judge(source, structure, from: sender, to: recipients)
        reportWarnings(of: found.decisions)
        let changes = found.decisions.contains { $0.action.isChange }
        let marked = try changes ? prepared?.marked ?? host?.marked(controls.source, controls.message.header) : nil
        let signs = found.decisions.contains { $0.action.signs }
        let ciphers = if let ciphers { ciphers } else { try await store.cipherPreferences() }
        let headers = if let prepared { prepared.headers } else { try await headers(found, sender, controls) }
        return OutgoingPlan(
            source: controls.source,
            changed: marked ?? controls.source,
            decisions: found.decisions,
            // The addresses in the header matter only for encrypted copies. Other mail is sent however many there are.
            visible: found.decisions.contains(where: \.action.encrypts) ? try controls.visibleRecipients() : [],
            parties: found.parties,
            sources: found.sources,
            ciphers: ciphers,
            senders: [sender.address, found.signing.account].compactMap(\.self),
            signer: signs ? try await found.signing.signer(in: store) : nil,
            headers: headers,
            protector: prepared?.protector,
            time: time,
            formError: prepared?.limits.error
        )
    }

    /// The header protection. The settings of the authors count, too: the envelope sender of a receipt, for example, is null.
    func headers(
        _ verdict: Verdict,
        _ sender: EnvelopeSender,
        _ controls: MessageControls
    ) async throws -> HeaderPolicy {
        let senders = [verdict.signing.account ?? sender.address].compactMap(\.self)
        return try await store.headerPolicy(ofMailFrom: controls.message.header.senders.union(senders))
    }

    /// The maximum number of warnings to report individually. Further ones are only counted.
    private static let maximumWarnings = 5

    /// Reports the warnings of `decisions`: protection that an unusable certificate or identity prevented. Reports nothing
    /// if a decision has unmet requirements.
    private func reportWarnings(of decisions: [PolicyDecision]) {
        guard decisions.allSatisfy(\.unmetRequirements.isEmpty) else { return }
        var seen: Set<String> = []
        let texts = decisions.flatMap(\.warnings).filter { seen.insert($0).inserted }
        texts.prefix(Self.maximumWarnings).forEach(warn)
        if texts.count > Self.maximumWarnings { warn("and \(texts.count - Self.maximumWarnings) more like these") }
    }

    /// The decisions about the message in `source`. No private key is opened.
    ///
    /// - Parameter structure: the structure of the message; nil reads it.
    /// - Throws: as `plan`, except for `GatewayError.loop`
    package func decisions(
        on source: any ByteSource,
        structure: Entity? = nil,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws -> [PolicyDecision] {
        try await judge(source, structure, from: sender, to: recipients).verdict.decisions
    }

    /// The decisions about a message that does not exist yet.
    ///
    /// - Parameter authors: the addresses in the message's From field.
    package func decisions(
        from sender: EmailAddress?,
        authors: [EmailAddress],
        to recipients: [EmailAddress]
    ) async throws -> [PolicyDecision] {
        try await judge(
            from: sender.map { .address($0) } ?? .null,
            author: AuthorReading(listing: authors),
            claimed: authors,
            to: recipients,
            kind: sender == nil ? .bounce : nil
        ).decisions
    }
}

extension OutgoingFilter {
    /// A message that will be changed, and the limits of its form.
    struct PreparedMessage {
        let limits: FormLimits
        /// How the message's header is protected.
        let headers: HeaderPolicy
        /// The message with this host's mark; nil if there is no host, or if the host has changed the message too
        /// often.
        let marked: (any ByteSource)?
        /// The protector of `marked`, or otherwise of the unmarked message; nil if the form of the message permits no
        /// protection.
        let protector: MessageProtector?
    }

    /// The decisions, and the data on which they are based.
    struct Verdict {
        let decisions: [PolicyDecision]
        let parties: [EmailAddress: CipherNegotiation.Party]
        let sources: [EmailAddress: KnownRecipient.Source]
        let signing: SigningAvailability
        private let recipients: [EmailAddress]
        private let questions: [PolicyQuestion]

        init(
            _ recipients: [EmailAddress],
            _ questions: [PolicyQuestion],
            parties: [EmailAddress: CipherNegotiation.Party],
            sources: [EmailAddress: KnownRecipient.Source],
            signing: SigningAvailability
        ) {
            decisions = recipients.compactMap { PolicyDecision.strictest(for: $0, questions) }
            self.parties = parties
            self.sources = sources
            self.signing = signing
            self.recipients = recipients
            self.questions = questions
        }

        /// The verdict with new decisions for a message whose form does not permit all protection.
        func limited(by form: FormLimits) -> Verdict {
            let limited = questions.map { question in
                var question = question
                question.signingObstacle = form.signing.map { "\($0)" }
                question.encryptionObstacle = form.encryption.map { "\($0)" }
                return question
            }
            return Verdict(recipients, limited, parties: parties, sources: sources, signing: signing)
        }
    }
}
