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
        /// The message is sent without being signed or encrypted.
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
    /// The level for signing, determined by the command line, the rules and the message.
    public let sign: Policy.Level
    /// The level for encryption, determined by the command line, the rules and the message.
    public let encrypt: Policy.Level
    /// The action.
    public let action: Action
    /// Whether the message is neither signed nor encrypted here because it already is.
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

extension Policy.Rule {
    /// The name of the rule in reasons.
    var title: String { scope == .global ? "the global rule" : "the rule for \(scope)" }
}

/// The level for signing or for encryption, with the reasons.
struct AxisDecision {
    private(set) var level: Policy.Level
    private(set) var reasons: [String]

    init(
        _ name: String,
        _ axis: KeyPath<ProtectionRequest, Policy.Level?>,
        choice: RulePrecedence.Choice,
        question: PolicyQuestion
    ) {
        if let flag = question.flags[keyPath: axis] {
            level = flag
            reasons = ["\(name)=\(flag.rawValue): the command line says so"]
            return
        }
        let (base, rule) = (choice.level, choice.rule)
        level = base
        reasons = ["\(name)=\(base.rawValue): \(Self.origin(of: choice, axis, question))"]
        guard let request = question.message[keyPath: axis], request != base else { return }
        guard question.account != nil, !question.isSenderClaimed else {
            let who = question.isSenderClaimed ? nil : question.sender?.text
            reasons.append(
                "\(name)=\(request.rawValue) in the message is ignored: \(who ?? "the null sender") has no account"
            )
            return
        }
        level = choice.bound.bounded(base, request: request)
        let bound = choice.bound.rawValue + (rule?.override == nil ? ", the default of \(base.rawValue)" : "")
        reasons.append(
            level == request
                ? "\(name)=\(request.rawValue): the message asks for it"
                : "\(name)=\(request.rawValue) in the message is ignored: override \(bound)"
        )
    }

    /// Describes what determined the level.
    private static func origin(
        of choice: RulePrecedence.Choice,
        _ axis: KeyPath<ProtectionRequest, Policy.Level?>,
        _ question: PolicyQuestion
    ) -> String {
        if choice.isOfKind, let kind = question.kind { return "built in for \(kind.plural)" }
        guard let rule = choice.rule else { return "built in, no rule says otherwise" }
        let setsLevel = ProtectionRequest(sign: rule.sign, encrypt: rule.encrypt)[keyPath: axis] != nil
        return rule.title + (setsLevel ? "" : ", which leaves the built-in level")
    }
}
