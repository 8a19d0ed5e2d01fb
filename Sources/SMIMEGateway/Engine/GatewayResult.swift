package import SMIME
import SMIMEAgent
import SMIMEStore

/// The result for a mail that is not sent yet, with the fields and warnings for the log.
package struct GatewayResult<Value: Sendable>: Sendable {
    /// How handling the mail ended.
    package enum Outcome: Sendable {
        case finished(Value)
        /// According to the journal, all recipients have already received the mail.
        case sentBefore
        case refused(GatewayRefusal)
    }

    package let outcome: Outcome
    /// The fields for the log, as far as the mail was handled.
    package let record: MailRecord
    /// The warnings for the administrator, in chronological order.
    package let warnings: [String]
}

/// A mail that was signed, encrypted, verified or decrypted. All resulting messages are finished, and all of them must be
/// sent.
///
/// After the delivery, call `GatewayEngine.keepAnswers(of:)` and `learn(from:)`.
package struct ProcessedMail: Sendable {
    /// The resulting messages with their recipients.
    package let delivery: Delivery
    /// The message to learn from after the delivery; nil if there is nothing to learn.
    package let learnable: VerifiedMessage?
    /// The queries to revocation services; nil if there could be none.
    let services: OnlineRevocation?
    /// The view of the store with which the mail was handled; nil if there is nothing to learn.
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
