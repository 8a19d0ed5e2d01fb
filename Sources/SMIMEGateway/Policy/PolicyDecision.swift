public import InternetMessage
import SMIME
import SMIMEAgent
public import SMIMEStore

/// What happens to a message for one recipient, and why.
public struct PolicyDecision: Hashable, Sendable {
    /// The action for one recipient.
    @nonexhaustive
    public enum Action: String, CaseIterable, Hashable, Sendable {
        /// The message goes back to its sender.
        case bounce
        /// The message waits.
        case deferral = "defer"
        case encrypt
        /// The message goes as it is.
        case plain
        case sign
        case signAndEncrypt = "sign+encrypt"

        /// Whether the filter makes a new message.
        package var isChange: Bool { signs || encrypts }
        /// Whether the new message is encrypted.
        var encrypts: Bool { self == .encrypt || self == .signAndEncrypt }
        /// Whether the new message is signed.
        var signs: Bool { self == .sign || self == .signAndEncrypt }
    }

    /// The recipient that this decides for.
    public let recipient: EmailAddress
    /// Whether it is to be signed, by flags, rules and the message together.
    public let sign: Policy.Level
    /// Whether it is to be encrypted, by the same.
    public let encrypt: Policy.Level
    /// The action.
    public let action: Action
    /// Whether it goes as it is because it is signed or encrypted already.
    public let isPassed: Bool
    /// The protection that an unusable certificate or identity prevented, as in `not encrypted: no usable certificate
    /// for bob@example.org (expired on 2026-10-01)`.
    public let warnings: [String]
    /// The requirements that cannot be met, as in `no usable certificate for bob@example.org (none is known)`; empty
    /// unless the message bounces or waits.
    public let obstacles: [String]
    /// Whether the message bounces for nothing but its form, which does not allow what is required.
    package let isUnfit: Bool
    /// How the decision was reached, one step each.
    public let reasons: [String]

    /// Decides for `recipient`; the result depends on the question alone.
    ///
    /// For signing and for encryption the command line goes first. Otherwise the first rule with a level decides, and bounds what the
    /// message may change. A requirement that cannot be met stops the message.
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
        obstacles = outcome.obstacles
        isUnfit = outcome.isUnfit && !outcome.isRefused && outcome.action == .bounce
        reasons = sign.reasons + encrypt.reasons + outcome.reasons
    }
}
