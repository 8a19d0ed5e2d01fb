package import ByteStreams
package import Foundation
package import InternetMessage
package import PKIX
import SMIME
package import SMIMEAgent
package import SMIMEStore

/// Applies the sending policy to outgoing mail.
///
/// Values that the caller does not give come from the store's settings, read for each message, so that a server that
/// shares a store with `smime` follows changed settings.
package struct OutgoingFilter: Sendable {
    private let store: Store
    private let time: Date
    private let systemAnchors: Bool
    private let sources: [any CertificateSource]?
    private let options: ValidationOptions
    private let revocation: (any RevocationSource)?
    private let flags: ProtectionRequest
    private let tags: SubjectTags?
    private let ciphers: CipherPreferences?
    private let honoursRequests: Bool
    private let host: MailHost?
    private let warn: @Sendable (String) -> Void

    /// A filter that reads rules, keys and certificates from `store`, and judges them at `time`. Make a new one for
    /// each message, or for messages of one moment.
    ///
    /// - Parameters:
    ///   - systemAnchors: whether the system's trust anchors count.
    ///   - sources: where to look up recipients' certificates that the store does not have; nil reads `lookup.…`.
    ///   - options: how strictly recipients' certificates are judged, and whether revoked ones of the sender count. The
    ///     lists of the folder `revocation.directory` are added.
    ///   - revocation: the services to ask if the data at hand does not decide. Nil asks none, whatever
    ///     `revocation.online` says: `Store.revocationServices()` reads that setting.
    ///   - flags: levels that override all rules.
    ///   - tags: what subjects may ask for; nil reads `subject-tags`.
    ///   - ciphers: the cipher for unknown recipients, and the floor; nil reads `encryption.…`.
    ///   - honoursRequests: whether messages may ask for anything at all.
    ///   - host: the host that marks changed messages; nil leaves no mark, and finds no loop.
    ///   - warn: called for what was ignored: sources that cannot be asked, files that are no lists, requests that are
    ///     not understood.
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
        self.warn = warn
    }

    /// What happens to the message in `source` that `sender` sends to `recipients`.
    ///
    /// - Throws: `MIMEError` for a message that cannot be read, `MessageError` for one that cannot be protected as it is,
    ///   `GatewayError.loop` for one that we changed too often, `KeystoreError`, `SettingError`, and what reading throws.
    package func plan(
        _ source: any ByteSource,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws -> OutgoingPlan {
        let (controls, found, prepared) = try await judge(source, from: sender, to: recipients)
        tellOfWarnings(of: found.decisions)
        let changes = found.decisions.contains { $0.action.isChange }
        let marked = try changes ? prepared?.marked ?? host?.marked(controls.source, controls.message.header) : nil
        let signs = found.decisions.contains { $0.action.signs }
        let ciphers = if let ciphers { ciphers } else { try await store.cipherPreferences() }
        return OutgoingPlan(
            source: controls.source,
            changed: marked ?? controls.source,
            decisions: found.decisions,
            visible: try controls.visibleRecipients(),
            parties: found.parties,
            sources: found.sources,
            ciphers: ciphers,
            senders: [sender.address, found.signing.account].compactMap(\.self),
            signer: signs ? try await found.signing.signer(in: store) : nil,
            headers: try await headers(found, sender),
            protector: prepared?.protector,
            time: time,
            formError: prepared?.limits.error
        )
    }

    private func headers(_ verdict: Verdict, _ sender: EnvelopeSender) async throws -> HeaderPolicy {
        try await store.headerPolicy(of: store.accounts.summary(of: verdict.signing.account ?? sender.address))
    }

    /// The maximum number of warnings of decisions; further ones are counted.
    private static let maximumWarnings = 5

    /// Warns about messages that get less protection than before.
    private func tellOfWarnings(of decisions: [PolicyDecision]) {
        guard decisions.allSatisfy(\.obstacles.isEmpty) else { return }
        var seen: Set<String> = []
        let texts = decisions.flatMap(\.warnings).filter { seen.insert($0).inserted }
        texts.prefix(Self.maximumWarnings).forEach(warn)
        if texts.count > Self.maximumWarnings { warn("and \(texts.count - Self.maximumWarnings) more like these") }
    }

    /// What would happen to the message in `source`. No key is opened.
    ///
    /// - Throws: as `plan`
    package func decisions(
        on source: any ByteSource,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws -> [PolicyDecision] {
        try await judge(source, from: sender, to: recipients).verdict.decisions
    }

    /// What would happen to a message that does not exist yet.
    ///
    /// - Parameter authors: the addresses of its From field.
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

    private func judge(
        _ source: any ByteSource,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws -> (controls: MessageControls, verdict: Verdict, prepared: PreparedMessage?) {
        let tags = if let tags { tags } else { try await store.subjectTags() }
        let controls = try MessageControls(of: source, tags: tags)
        if honoursRequests, !controls.unread.isEmpty {
            let words = controls.unread.prefix(3).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
            warn("X-SMIME asks for \(words), which is not understood, and counts as require")
        }
        let verdict = try await judge(
            from: sender,
            author: AuthorReading(controls.message.header),
            claimed: controls.claimedAuthors(),
            to: recipients,
            request: honoursRequests ? controls.request : ProtectionRequest(),
            kind: Policy.Kind(of: controls.message.header, isFromNobody: sender == .null),
            layer: ExistingLayer(of: controls.message, in: controls.source)
        )
        if honoursRequests, controls.request != ProtectionRequest(), verdict.signing.account == nil {
            warn("what the message asks for with X-SMIME or a tag does not count: \(sender) is no account")
        }
        let actions = Set(verdict.decisions.map(\.action))
        guard actions.contains(where: \.isChange) else { return (controls, verdict, nil) }
        // Other programs find another end of such a header. The mail is refused, since it must not leave in clear.
        if let defect = controls.message.header.ambiguity { throw MessageError.defective(defect) }
        let headers = try await headers(verdict, sender)
        // The limits are those of the marked message, which is what will be written. Only `plan` throws for a loop.
        let marked = try? host?.marked(controls.source, controls.message.header)
        var protector: MessageProtector?
        let limits = try FormLimits(for: actions) {
            let known = try protector ?? MessageProtector(marked ?? controls.source, headers: headers)
            protector = known
            return known
        }
        let prepared = PreparedMessage(limits: limits, marked: marked, protector: protector)
        return (controls, limits.areNone ? verdict : verdict.limited(by: limits), prepared)
    }

    /// A message that is to be changed, and which changes its form allows.
    private struct PreparedMessage {
        let limits: FormLimits
        /// The message with our mark; nil if it gets none.
        let marked: (any ByteSource)?
        /// What protects the message, marked if it gets a mark; nil if its form allows nothing.
        let protector: MessageProtector?
    }

    /// The decisions, and what they were made with.
    private struct Verdict {
        let decisions: [PolicyDecision]
        let parties: [EmailAddress: CipherNegotiation.Party]
        let sources: [EmailAddress: KnownRecipient.Source]
        let signing: SigningAvailability
        private let recipients: [EmailAddress]
        private let questions: [PolicyQuestion]

        init(
            _ recipients: [EmailAddress],
            _ questions: [PolicyQuestion],
            _ parties: [EmailAddress: CipherNegotiation.Party],
            _ sources: [EmailAddress: KnownRecipient.Source],
            _ signing: SigningAvailability
        ) {
            decisions = recipients.compactMap { PolicyDecision.strictest(for: $0, questions) }
            self.parties = parties
            self.sources = sources
            self.signing = signing
            self.recipients = recipients
            self.questions = questions
        }

        /// The same, decided anew for a message whose form does not allow everything.
        func limited(by limits: FormLimits) -> Verdict {
            let limited = questions.map { question in
                var question = question
                question.signingObstacle = limits.signing.map { "\($0)" }
                question.encryptionObstacle = limits.encryption.map { "\($0)" }
                return question
            }
            return Verdict(recipients, limited, parties, sources, signing)
        }
    }

    /// Decides by one snapshot of the store: rules, accounts, keys and certificates are of the same moment.
    private func judge(
        from sender: EnvelopeSender,
        author: AuthorReading,
        claimed: [EmailAddress],
        to recipients: [EmailAddress],
        request: ProtectionRequest = ProtectionRequest(),
        kind: Policy.Kind? = nil,
        layer: ExistingLayer = ExistingLayer()
    ) async throws -> Verdict {
        // Mail servers may tell people apart by the case of their letters (RFC 5321 §2.4); certificates and rules do not.
        var (named, seen): (Set<String>, Set<EmailAddress>) = ([], [])
        let distinct = recipients.filter { named.insert($0.text).inserted }
        let recipients = distinct.filter { seen.insert($0).inserted }
        let lookup = try await store.lookup(
            systemAnchors: systemAnchors,
            options: options,
            sources: sources,
            lists: FolderLists(warn: warn),
            revocation: revocation
        )
        let (time, options, subaddressing) = (time, lookup.options, try await store.subaddressing())
        let draft = QuestionDraft(
            flags: flags,
            request: request,
            kind: kind,
            layer: layer,
            subaddressing: subaddressing
        )
        let (answer, (rules, signing, senders)) = try await lookup.choices(
            for: recipients.map { AddressScope($0) },
            at: time,
            needs: { (value: (rules: [Policy.Rule], signing: SigningAvailability, senders: [RuledSender]), choices) in
                let choices = Dictionary(zip(recipients, choices)) { first, _ in first }
                let questions = draft.questions(
                    from: value.senders,
                    rules: value.rules,
                    signing: value.signing.availability,
                    choices
                )
                return Set(recipients.filter { $0.needsCertificate(questions) }.map { AddressScope($0) })
            }
        ) { snapshot in
            let signing = try SigningAvailability(
                of: sender.address,
                for: author,
                subaddressing,
                at: time,
                under: options,
                in: snapshot
            )
            let senders = try RuledSender.all(for: sender, claimed, signing.account, subaddressing, in: snapshot)
            let rules = try snapshot.rules(
                forSenders: senders.flatMap { $0.ruleAddresses(subaddressing) },
                recipients: recipients.flatMap { [$0] + subaddressing.implied(by: $0) },
                kind: kind
            )
            return (rules, signing, senders)
        }
        answer.warnings.forEach(warn)
        let choices = Dictionary(zip(recipients, answer.choices)) { first, _ in first }
        let questions = draft.questions(from: senders, rules: rules, signing: signing.availability, choices)
        let found = choices.compactMapValues { $0.selected.flatMap { $0.rank > 0 ? $0.source : nil } }
        return Verdict(distinct, questions, choices.compactMapValues(\.party), found, signing)
    }
}
