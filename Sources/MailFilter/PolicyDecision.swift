public import Keystore
public import MIME
import SMIME

/// What happens to a message for one recipient, and why.
public struct PolicyDecision: Hashable, Sendable {
    /// What is done.
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
    }

    public let recipient: EmailAddress
    public let sign: Policy.Level
    public let encrypt: Policy.Level
    public let action: Action
    /// What is required and cannot be had, as in `no usable certificate for bob@example.org (none is known)`; empty
    /// unless the message bounces or waits.
    public let obstacles: [String]
    /// How the decision was reached, one step each.
    public let reasons: [String]

    /// Decides for `recipient`. Pure: the same question, the same answer.
    ///
    /// For each axis the command line goes first; else the first rule that speaks of it decides, and bounds what the
    /// message may change. What is required and cannot be done keeps the message from going.
    public init(for recipient: EmailAddress, _ question: PolicyQuestion) {
        let precedence = RulePrecedence(
            question.rules,
            recipient: recipient,
            sender: question.sender,
            account: question.account
        )
        let sign = AxisDecision("sign", \.sign, \.sign, precedence, question)
        let encrypt = AxisDecision("encrypt", \.encrypt, \.encrypt, precedence, question)
        let outcome = Outcome(recipient, sign.level, encrypt.level, precedence.missing, question)
        self.recipient = recipient
        self.sign = sign.level
        self.encrypt = encrypt.level
        action = outcome.action
        obstacles = outcome.obstacles
        reasons = sign.reasons + encrypt.reasons + outcome.reasons
    }
}

/// How much is wanted of signing, or of encryption.
private struct AxisDecision {
    private(set) var level: Policy.Level
    private(set) var reasons: [String]

    init(
        _ name: String,
        _ ruleAxis: KeyPath<Policy.Rule, Policy.Level?>,
        _ wishAxis: KeyPath<MessageWish, Policy.Level?>,
        _ precedence: RulePrecedence,
        _ question: PolicyQuestion
    ) {
        if let flag = question.flags[keyPath: wishAxis] {
            level = flag
            reasons = ["\(name)=\(flag.rawValue): the command line says so"]
            return
        }
        let (base, rule) = precedence.deciding(ruleAxis)
        level = base
        let isOwn = rule?[keyPath: ruleAxis] != nil
        let origin = rule.map {
            ($0.scope == .global ? "the global rule" : "the rule for \($0.scope)")
                + (isOwn ? "" : ", which leaves the built-in level")
        }
        reasons = ["\(name)=\(base.rawValue): \(origin ?? "built in, no rule speaks of it")"]
        guard let wish = question.message[keyPath: wishAxis], wish != base else { return }
        let bound = rule?.override ?? .any
        level = bound.bounded(base, wish: wish)
        reasons.append(
            level == wish
                ? "\(name)=\(wish.rawValue): the message asks for it"
                : "\(name)=\(wish.rawValue) in the message does not count: override \(bound.rawValue)"
        )
    }
}

/// What becomes of the message, once it is known what is wanted.
private struct Outcome {
    private(set) var action = PolicyDecision.Action.plain
    private(set) var obstacles: [String] = []
    private(set) var reasons: [String] = []

    init(
        _ recipient: EmailAddress,
        _ sign: Policy.Level,
        _ encrypt: Policy.Level,
        _ missing: Policy.Missing,
        _ question: PolicyQuestion
    ) {
        switch question.protection {
        case .encrypted:
            reasons = ["the message is encrypted already and goes as it is"]
            return
        case .signed where encrypt != .require:
            reasons = ["the message is signed already and goes as it is"]
            return
        case .signed, .unprotected: break
        }
        let isSigned = question.protection == .signed
        if isSigned { reasons.append("the message is signed already") }
        let doesSign = !isSigned && can(sign, question.signing, "identity to sign with", question.sender)
        let standing = question.encryption[recipient] ?? .missing(why: "none is known")
        let doesEncrypt = can(encrypt, standing, "certificate", recipient)
        guard obstacles.isEmpty else {
            action = missing == .bounce ? .bounce : .deferral
            reasons.append("what is required cannot be done: \(missing.rawValue)")
            return
        }
        action =
            switch (doesSign, doesEncrypt) {
            case (true, true): .signAndEncrypt
            case (true, false): .sign
            case (false, true): .encrypt
            case (false, false): .plain
            }
    }

    /// Whether something wanted as much as `level` is done; what is required and cannot be had becomes an obstacle.
    private mutating func can(
        _ level: Policy.Level,
        _ standing: PolicyQuestion.Standing,
        _ what: String,
        _ whose: EmailAddress?
    ) -> Bool {
        guard level != .never else { return false }
        guard case .missing(let why) = standing else { return true }
        let text = "no usable \(what) for \(whose?.text ?? "the null sender") (\(why))"
        reasons.append(text)
        if level == .require { obstacles.append(text) }
        return false
    }
}
