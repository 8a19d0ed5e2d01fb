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
    let warn: @Sendable (String) -> Void

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
        let headers = if let prepared { prepared.headers } else { try await headers(found, sender) }
        return OutgoingPlan(
            source: controls.source,
            changed: marked ?? controls.source,
            decisions: found.decisions,
            // Mail that stays as it is goes on, however many addresses are in its header.
            visible: changes ? try controls.visibleRecipients() : [],
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

    func headers(_ verdict: Verdict, _ sender: EnvelopeSender) async throws -> HeaderPolicy {
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
}
