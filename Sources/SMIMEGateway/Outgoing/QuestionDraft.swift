import InternetMessage
import SMIMEAgent
import SMIMEStore

/// What is known of a message before the look-up of its recipients' certificates.
struct QuestionDraft {
    let flags: ProtectionRequest
    let request: ProtectionRequest
    let kind: Policy.Kind?
    let layer: ExistingLayer
    let subaddressing: Subaddressing

    /// The questions to the policy, for each of `senders` whose rules count.
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
    /// Whether the answer to one of `questions` depends on the recipient's certificate.
    func needsCertificate(_ questions: [PolicyQuestion]) -> Bool {
        questions.contains { question in
            var question = question
            question.encryption[self] = .usable
            let decision = PolicyDecision(for: self, question)
            return decision.encrypt != .never && (decision.action.encrypts || !decision.obstacles.isEmpty)
        }
    }
}
