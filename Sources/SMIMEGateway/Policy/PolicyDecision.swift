public import InternetMessage
import SMIME
import SMIMEAgent
public import SMIMEStore

/// The action on a message for one recipient, with the reasons.
public struct PolicyDecision: Hashable, Sendable {
    /// The action for one recipient.
    @nonexhaustive
    public enum Action: String, CaseIterable, Hashable, Sendable {
        /// The message is returned to its sender.
        case bounce
        /// The message is deferred.
        case deferral = "defer"
        case encrypt
        /// The message is sent unchanged.
        case plain
        case sign
        case signAndEncrypt = "sign+encrypt"

        /// Whether the filter creates a new message.
        package var isChange: Bool { signs || encrypts }
        /// Whether the new message is encrypted.
        var encrypts: Bool { self == .encrypt || self == .signAndEncrypt }
        /// Whether the new message is signed.
        var signs: Bool { self == .sign || self == .signAndEncrypt }
    }

    /// The recipient to whom the decision applies.
    public let recipient: EmailAddress
    /// The level for signing, determined by flags, rules and the message.
    public let sign: Policy.Level
    /// The level for encryption, determined by flags, rules and the message.
    public let encrypt: Policy.Level
    /// The action.
    public let action: Action
    /// Whether the message is sent unchanged because it is already signed or encrypted.
    public let isPassed: Bool
    /// The protection that an unusable certificate or identity prevented, such as `not encrypted: no usable certificate for
    /// bob@example.org (expired on 2026-10-01)`.
    public let warnings: [String]
    /// The requirements that cannot be met, such as `no usable certificate for bob@example.org (none is known)`; empty
    /// unless the message is returned or deferred.
    public let unmetRequirements: [String]
    /// Whether the message is returned only because its form does not permit the required protection.
    package let isUnfit: Bool
    /// The steps that led to the decision, one text each.
    public let reasons: [String]

    /// Decides for `recipient`. The result depends only on the question.
    ///
    /// For signing and for encryption, the command line takes precedence. Otherwise the first rule with a level decides,
    /// and limits how the message may change the level. If a requirement cannot be met, the message is not sent.
    package init(for recipient: EmailAddress, _ question: PolicyQuestion) {
        let precedence = RulePrecedence(
            question.rules,
            recipient: recipient,
            sender: question.sender,
            account: question.account,
            kind: question.kind,
            subaddressing: question.subaddressing
        )
        let sign = AxisDecision("sign", \.sign, choice: precedence.signing, question: question)
        let encrypt = AxisDecision("encrypt", \.encrypt, choice: precedence.encryption, question: question)
        let outcome = PolicyOutcome(
            recipient,
            sign: sign.level,
            encrypt: encrypt.level,
            precedence: precedence,
            question
        )
        self.recipient = recipient
        self.sign = sign.level
        self.encrypt = encrypt.level
        action = outcome.action
        isPassed = outcome.action == .plain && question.protection != .unprotected
        warnings = outcome.warnings
        unmetRequirements = outcome.unmetRequirements
        isUnfit = outcome.isUnfit && !outcome.isRefused && outcome.action == .bounce
        reasons = sign.reasons + encrypt.reasons + outcome.reasons
    }
}
