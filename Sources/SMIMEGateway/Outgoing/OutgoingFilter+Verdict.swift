import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEStore

extension OutgoingFilter {
    /// A message that will be changed, and the limits of its form.
    struct PreparedMessage {
        let limits: FormLimits
        /// How the message's header is protected.
        let headers: HeaderPolicy
        /// The message with this host's mark; nil if it gets no mark.
        let marked: (any ByteSource)?
        /// The protector of the message, including the mark if it gets one; nil if its form permits no protection.
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
