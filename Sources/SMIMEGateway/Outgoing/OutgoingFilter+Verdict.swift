import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEStore

extension OutgoingFilter {
    /// A message that is to be changed, with what its form allows.
    struct PreparedMessage {
        let limits: FormLimits
        /// How its header is protected.
        let headers: HeaderPolicy
        /// The message with our mark; nil if it gets none.
        let marked: (any ByteSource)?
        /// What protects the message, marked if it gets a mark; nil if its form allows nothing.
        let protector: MessageProtector?
    }

    /// The decisions, and what they were made with.
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

        /// The same, decided anew for a message whose form does not allow everything.
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
