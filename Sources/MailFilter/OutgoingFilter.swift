import CMS
public import Foundation
public import Keystore
public import MIME
import SMIME
public import Streams

/// Applies the sending policy to mail on its way out.
public struct OutgoingFilter: Sendable {
    private let store: Store
    private let time: Date
    private let systemAnchors: Bool
    private let flags: MessageWish
    private let tags: SubjectTags

    /// A filter that asks `store` for rules, keys and certificates, and judges these at `time`.
    ///
    /// - Parameters:
    ///   - systemAnchors: whether the system's trust anchors count.
    ///   - flags: what stands above all rules.
    ///   - tags: what subjects may ask for.
    public init(
        store: Store,
        time: Date,
        systemAnchors: Bool,
        flags: MessageWish = MessageWish(),
        tags: SubjectTags = .standard
    ) {
        self.store = store
        self.time = time
        self.systemAnchors = systemAnchors
        self.flags = flags
        self.tags = tags
    }

    /// What happens to the message in `source` that `sender` sends to `recipients`.
    ///
    /// - Parameter sender: nil for the null sender, of bounces.
    /// - Throws: `MIMEError` for a message that cannot be read, `KeystoreError`, and what reading throws.
    public func plan(
        _ source: any ByteSource,
        from sender: EmailAddress?,
        to recipients: [EmailAddress]
    ) async throws -> OutgoingPlan {
        let (controls, found) = try await judge(source, from: sender, to: recipients)
        let signs = found.decisions.contains { $0.action == .sign || $0.action == .signAndEncrypt }
        return OutgoingPlan(
            source: controls.source,
            decisions: found.decisions,
            visible: try controls.visibleRecipients(),
            certificates: found.certificates,
            signer: signs ? try await signer(found.signer) : nil,
            time: time
        )
    }

    /// What would happen to the message in `source`. No key is opened.
    ///
    /// - Throws: as `plan`
    public func decisions(
        on source: any ByteSource,
        from sender: EmailAddress?,
        to recipients: [EmailAddress]
    ) async throws -> [PolicyDecision] {
        try await judge(source, from: sender, to: recipients).verdict.decisions
    }

    /// What would happen to a message that there is not yet.
    ///
    /// - Parameter authors: the addresses of its From field.
    public func decisions(
        from sender: EmailAddress?,
        authors: [EmailAddress],
        to recipients: [EmailAddress]
    ) async throws -> [PolicyDecision] {
        try await judge(from: sender, authors: authors, to: recipients).decisions
    }

    private func judge(
        _ source: any ByteSource,
        from sender: EmailAddress?,
        to recipients: [EmailAddress]
    ) async throws -> (controls: MessageControls, verdict: Verdict) {
        let controls = try MessageControls(of: source, tags: tags)
        let verdict = try await judge(
            from: sender,
            authors: controls.authors(),
            to: recipients,
            wish: controls.wish,
            protection: ExistingProtection(of: controls.message, in: controls.source)
        )
        return (controls, verdict)
    }

    /// The decisions, and what they were made with.
    private struct Verdict {
        let decisions: [PolicyDecision]
        let certificates: [EmailAddress: Certificate]
        let signer: Certificate?
    }

    private func judge(
        from sender: EmailAddress?,
        authors: [EmailAddress],
        to recipients: [EmailAddress],
        wish: MessageWish = MessageWish(),
        protection: ExistingProtection = .unprotected
    ) async throws -> Verdict {
        var seen: Set<EmailAddress> = []
        let recipients = recipients.filter { seen.insert($0).inserted }
        let account = try await account(of: sender)
        let signing = try await signingCertificate(of: account, for: authors)
        let choices = try await store.recipients.choices(for: recipients, at: time, systemAnchors: systemAnchors)
        var question = PolicyQuestion(
            sender: sender,
            account: account?.address,
            rules: try await store.policy.rules(
                forSenders: [sender, account?.address].compactMap(\.self),
                recipients: recipients
            ),
            flags: flags,
            message: wish,
            protection: protection,
            signing: signing.standing,
            encryption: [:]
        )
        var certificates: [EmailAddress: Certificate] = [:]
        for choice in choices {
            certificates[choice.address] = choice.selected?.certificate
            question.encryption[choice.address] = choice.selected == nil ? .missing(why: choice.whyNone) : .usable
        }
        return Verdict(
            decisions: recipients.map { PolicyDecision(for: $0, question) },
            certificates: certificates,
            signer: signing.certificate
        )
    }

    private func account(of address: EmailAddress?) async throws -> Account? {
        guard let address else { return nil }
        do throws(KeystoreError) {
            return try await store.accounts.account(for: address)
        } catch .unknownAccount {
            return nil
        }
    }

    /// The certificate that `account` signs mail of `authors` with.
    ///
    /// Who may send as one account does not thereby get the signature of another one, whatever From says.
    private func signingCertificate(
        of account: Account?,
        for authors: [EmailAddress]
    ) async throws -> (standing: PolicyQuestion.Standing, certificate: Certificate?) {
        guard let account else { return (.missing(why: "no such account"), nil) }
        guard !authors.isEmpty else {
            return (.missing(why: "the message is from nobody or has several From fields"), nil)
        }
        for author in authors {
            let isOwn = try await self.account(of: author)?.address == account.address
            let identity = IdentitySelection.current(
                of: account.identities.filter { isOwn || $0.certificate.names(author) },
                for: author,
                purpose: .signing,
                at: time
            )
            if let identity { return (.usable, identity.certificate) }
        }
        let names = authors.map(\.text).joined(separator: ", ")
        return (.missing(why: "the account \(account.address) has no valid certificate for From \(names)"), nil)
    }

    private func signer(_ certificate: Certificate?) async throws -> SignedDataWriter.Signer? {
        guard let certificate else { return nil }
        let keyed = try await store.accounts.identity(certificate.fingerprint)
        return SignedDataWriter.Signer(
            key: keyed.key,
            certificate: keyed.certificate,
            chain: try await store.anchors.chain(above: keyed.certificate),
            digest: .sha256
        )
    }
}
