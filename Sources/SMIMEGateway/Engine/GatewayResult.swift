package import SMIME
import SMIMEAgent
import SMIMEStore

/// The result for a mail that is not sent yet, and what the log says about it.
package struct GatewayResult<Value: Sendable>: Sendable {
    /// How it ended.
    package enum Outcome: Sendable {
        case finished(Value)
        /// Every recipient has it already, by the journal.
        case sentBefore
        case refused(GatewayRefusal)
    }

    package let outcome: Outcome
    /// What was decided and done, as far as it came.
    package let record: MailRecord
    /// Sentences for the administrator, in the order in which they came.
    package let warnings: [String]
}

/// A mail that was signed, encrypted, verified or decrypted: all its forms are finished, and all of them are to be sent.
///
/// After the delivery `GatewayEngine.keepAnswers(of:)` and `learn(from:)` are called.
package struct ProcessedMail: Sendable {
    /// The forms with their recipients.
    package let delivery: Delivery
    /// The message to learn from after the delivery; nil for nothing.
    package let learnable: VerifiedMessage?
    /// What was asked about revocation; nil if nothing could be.
    let services: OnlineRevocation?
    /// The store as it was while the mail was handled; nil if there is nothing to learn.
    let store: Store?

    init(
        _ delivery: Delivery,
        learnable: VerifiedMessage? = nil,
        services: OnlineRevocation? = nil,
        store: Store? = nil
    ) {
        self.delivery = delivery
        self.learnable = learnable
        self.services = services
        self.store = store
    }
}
