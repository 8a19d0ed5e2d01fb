import InternetMessage
import SMIMEAgent
import SMIMEStore

/// What is known of a message before its recipients' certificates are.
struct QuestionDraft {
    let flags: ProtectionRequest
    let request: ProtectionRequest
    let kind: Policy.Kind?
    let layer: ExistingLayer
    let subaddressing: Subaddressing

    /// What is asked for each of `senders`, whom the rules take it to be from.
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
    /// Whether it matters for one of `questions` if there is a certificate for it.
    func needsCertificate(_ questions: [PolicyQuestion]) -> Bool {
        questions.contains { question in
            var question = question
            question.encryption[self] = .usable
            let decision = PolicyDecision(for: self, question)
            return decision.encrypt != .never && (decision.action.encrypts || !decision.obstacles.isEmpty)
        }
    }
}
