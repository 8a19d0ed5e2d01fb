import InternetMessage
import SMIMEAgent
import SMIMEStore

/// The data about a message that is known before its recipients' certificates are looked up.
struct QuestionDraft {
    let flags: ProtectionRequest
    let request: ProtectionRequest
    let kind: Policy.Kind?
    let layer: ExistingLayer
    let subaddressing: Subaddressing

    /// The policy questions for each of `senders`.
    func questions(
        from senders: [RuledSender],
        rules: [Policy.Rule],
        signing: Availability,
        _ choices: [EmailAddress: RecipientChoice]
    ) -> [PolicyQuestion] {
        let readers = choices.filter { !layer.hasHistoricCipher && $0.value.inUse.contains(where: layer.isEncrypted) }
        return senders.map { sender in
            PolicyQuestion(
                sender: sender.address,
                isSenderClaimed: sender.isClaimed,
                account: sender.account,
                rules: rules,
                flags: flags,
                message: request,
                kind: kind,
                protection: layer.protection,
                readers: Set(readers.keys),
                subaddressing: subaddressing,
                signing: signing,
                encryption: choices.mapValues(Availability.init)
            )
        }
    }
}

extension EmailAddress {
    /// Whether the decision about one of `questions` depends on the recipient's certificate.
    func needsCertificate(_ questions: [PolicyQuestion]) -> Bool {
        questions.contains { question in
            var question = question
            question.encryption[self] = .usable
            let decision = PolicyDecision(for: self, question)
            return decision.encrypt != .never && (decision.action.encrypts || !decision.unmetRequirements.isEmpty)
        }
    }
}
