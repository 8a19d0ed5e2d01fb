import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension OutgoingFilter {
    /// Decides whether to sign and encrypt the message in `source`. Protection that the message's structure prevents is
    /// left out if no rule requires it (see `FormLimits`).
    func judge(
        _ source: any ByteSource,
        _ structure: Entity?,
        from sender: EnvelopeSender,
        to recipients: [EmailAddress]
    ) async throws -> (controls: MessageControls, verdict: Verdict, form: PreparedMessage?) {
        let tags = if let tags { tags } else { try await store.subjectTags() }
        let controls = try MessageControls(of: source, structure: structure, tags: tags)
        if honoursRequests, !controls.unread.isEmpty {
            let words = controls.unread.prefix(3).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
            warn("X-SMIME contains unknown words, which are treated as require: \(words)")
        }
        let author = AuthorReading(controls.message.header)
        let verdict = try await judge(
            from: sender,
            author: author,
            claimed: controls.claimedAuthors(author),
            to: recipients,
            request: honoursRequests ? controls.senderRequest : ProtectionRequest(),
            kind: Policy.Kind(of: controls.message.header, hasNullSender: sender == .null),
            layer: ExistingLayer(of: controls.message, in: controls.source)
        )
        if honoursRequests, controls.request != ProtectionRequest(), verdict.signing.account == nil {
            warn("requests by X-SMIME or a tag are ignored: \(sender) has no account")
        }
        guard let form = try await form(of: controls, sender, verdict) else { return (controls, verdict, nil) }
        return (controls, form.limits.areNone ? verdict : verdict.limited(by: form.limits), form)
    }

    /// Prepares a message that the verdict changes; nil if the verdict changes nothing.
    private func form(of controls: MessageControls, _ sender: EnvelopeSender, _ verdict: Verdict) async throws
        -> PreparedMessage?
    {
        let actions = Set(verdict.decisions.map(\.action))
        guard actions.contains(where: \.isChange) else { return nil }
        // Other programs find the end of such a header elsewhere. Mail that must be protected must not be sent unencrypted
        // because of that.
        if let defect = controls.message.header.ambiguity { throw MessageError.defective(defect) }
        let headers = try await headers(verdict, sender, controls)
        // The examined message is the one that will be written, including the mark. A loop is ignored here; `plan` reports
        // it.
        let marked = try? host?.marked(controls.source, controls.message.header)
        let source = marked ?? controls.source
        var protector: MessageProtector?
        let limits = try FormLimits(for: actions) {
            let known =
                try protector
                ?? MessageProtector(
                    LocatedEntity(reading: source, afterChangeTo: controls.message),
                    headers: headers
                )
            protector = known
            return known
        }
        return PreparedMessage(limits: limits, headers: headers, marked: marked, protector: protector)
    }

    /// Decides with one snapshot of the store, so that rules, accounts, keys and certificates match.
    func judge(
        from sender: EnvelopeSender,
        author: AuthorReading,
        claimed: [EmailAddress],
        to recipients: [EmailAddress],
        request: ProtectionRequest = ProtectionRequest(),
        kind: Policy.Kind? = nil,
        layer: ExistingLayer = ExistingLayer()
    ) async throws -> Verdict {
        // Mail servers may distinguish recipients by the case of letters (RFC 5321 §2.4). Certificates and rules do not.
        var (named, seen): (Set<ExactText>, Set<EmailAddress>) = ([], [])
        let distinct = recipients.filter { named.insert(ExactText($0.text)).inserted }
        let recipients = distinct.filter { seen.insert($0).inserted }
        var lookup = try await store.lookup(
            systemAnchors: systemAnchors,
            options: options,
            sources: sources,
            lists: FolderLists(warn: warn),
            revocation: revocation
        )
        lookup.message = message
        let (time, options, subaddressing) = (time, lookup.options, try await store.subaddressing())
        let draft = QuestionDraft(
            flags: flags,
            request: request,
            kind: kind,
            layer: layer,
            subaddressing: subaddressing
        )
        let (answer, facts) = try await lookup.choices(
            for: recipients.map { AddressScope($0) },
            at: time,
            needs: { (facts: SenderFacts, choices) in
                let choices = Dictionary(zip(recipients, choices)) { first, _ in first }
                let questions = facts.questions(draft, choices)
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
            return try SenderFacts(
                sender,
                claimed,
                signing: signing,
                to: recipients,
                kind: kind,
                subaddressing: subaddressing,
                in: snapshot
            )
        }
        answer.warnings.forEach(warn)
        let choices = Dictionary(zip(recipients, answer.choices)) { first, _ in first }
        let questions = facts.questions(draft, choices)
        let found = choices.compactMapValues { $0.selected.flatMap { $0.rank > 0 ? $0.source : nil } }
        return Verdict(
            distinct,
            questions,
            parties: choices.compactMapValues(\.party),
            sources: found,
            signing: facts.signing
        )
    }
}

/// The data about the sender of a message, from one snapshot of the store.
private struct SenderFacts: Sendable {
    let rules: [Policy.Rule]
    let signing: SigningAvailability
    private let senders: [RuledSender]

    init(
        _ sender: EnvelopeSender,
        _ claimed: [EmailAddress],
        signing: SigningAvailability,
        to recipients: [EmailAddress],
        kind: Policy.Kind?,
        subaddressing: Subaddressing,
        in snapshot: StoreSnapshot
    ) throws {
        senders = try RuledSender.all(for: sender, claimed, signing.account, subaddressing: subaddressing, in: snapshot)
        rules = try snapshot.rules(
            forSenders: senders.flatMap { $0.ruleAddresses(subaddressing) },
            recipients: recipients.flatMap { [$0] + subaddressing.implied(by: $0) },
            kind: kind
        )
        self.signing = signing
    }

    func questions(_ draft: QuestionDraft, _ choices: [EmailAddress: RecipientChoice]) -> [PolicyQuestion] {
        draft.questions(from: senders, rules: rules, signing: signing.availability, choices)
    }
}
