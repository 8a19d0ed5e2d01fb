public import InternetMessage
import SMIME
import SMIMEAgent
public import SMIMEStore

/// What happens to a message for one recipient, and why.
public struct PolicyDecision: Hashable, Sendable {
    /// The action for one recipient.
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
        let sign = AxisDecision("sign", \.sign, precedence.signing, question)
        let encrypt = AxisDecision("encrypt", \.encrypt, precedence.encryption, question)
        let outcome = Outcome(for: recipient, sign: sign.level, encrypt: encrypt.level, precedence, question)
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

extension Policy.Rule {
    /// The rule's name in reasons.
    fileprivate var title: String { scope == .global ? "the global rule" : "the rule for \(scope)" }
}

/// How much is wanted of signing, or of encryption.
private struct AxisDecision {
    private(set) var level: Policy.Level
    private(set) var reasons: [String]

    init(
        _ name: String,
        _ axis: KeyPath<ProtectionRequest, Policy.Level?>,
        _ choice: RulePrecedence.Choice,
        _ question: PolicyQuestion
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
                "\(name)=\(request.rawValue) in the message does not count: \(who ?? "the null sender") is no account"
            )
            return
        }
        level = choice.bound.bounded(base, request: request)
        let bound = choice.bound.rawValue + (rule?.override == nil ? ", the default of \(base.rawValue)" : "")
        reasons.append(
            level == request
                ? "\(name)=\(request.rawValue): the message asks for it"
                : "\(name)=\(request.rawValue) in the message does not count: override \(bound)"
        )
    }

    /// The origin of the level.
    private static func origin(
        of choice: RulePrecedence.Choice,
        _ axis: KeyPath<ProtectionRequest, Policy.Level?>,
        _ question: PolicyQuestion
    ) -> String {
        if choice.isOfKind, let kind = question.kind { return "built in for \(kind.plural)" }
        guard let rule = choice.rule else { return "built in, no rule says otherwise" }
        let isOwn = ProtectionRequest(sign: rule.sign, encrypt: rule.encrypt)[keyPath: axis] != nil
        return rule.title + (isOwn ? "" : ", which leaves the built-in level")
    }
}

/// What is done with a message whose levels for signing and encryption are known.
private struct Outcome {
    private(set) var action = PolicyDecision.Action.plain
    private(set) var warnings: [String] = []
    private(set) var obstacles: [String] = []
    private(set) var reasons: [String] = []
    /// Whether a requirement certainly cannot be met.
    private(set) var isRefused = false
    /// Whether the form of the message prevents a required protection.
    private(set) var isUnfit = false
    /// Whether the requirement may be met later, as a source or service did not answer.
    private var isUnknown = false

    init(
        for recipient: EmailAddress,
        sign: Policy.Level,
        encrypt: Policy.Level,
        _ precedence: RulePrecedence,
        _ question: PolicyQuestion
    ) {
        let missing = precedence.missing
        let resigns = precedence.protected == .resign && question.protection != .unprotected && sign != .never
        let isEncrypted = question.protection == .encrypted
        let isUnreadable = isEncrypted && encrypt == .require && !question.readers.contains(recipient)
        switch question.protection {
        case .encrypted where !resigns && !isUnreadable:
            reasons = ["the message is encrypted already and goes as it is"]
            return
        case .signed where encrypt != .require && !resigns:
            reasons = ["the message is signed already and goes as it is"]
            return
        case .encrypted, .signed, .unprotected: break
        }
        let isSigned = question.protection == .signed
        if question.protection != .unprotected {
            let what = isSigned ? "signed" : "encrypted"
            reasons.append("the message is \(what) already" + (resigns ? ", and is to be signed again" : ""))
        }
        let doesSign =
            (resigns || !isSigned)
            && can(sign, question.signing, ("identity to sign with", "signed"), question.sender)
            && isAllowed(sign, "signed", question.signingObstacle)
        let availability = question.encryption[recipient] ?? .missing(why: "none is known")
        let doesEncrypt =
            !isEncrypted
            && can(encrypt, availability, ("certificate", "encrypted"), recipient)
            && isAllowed(encrypt, "encrypted", question.encryptionObstacle)
        if isUnreadable { refuse(encryptedNotFor: recipient, availability) }
        guard obstacles.isEmpty else {
            // If the form of the message prevents protection, waiting does not help.
            let isHopeless = isUnfit && !isRefused && !isUnknown
            action = isHopeless || isRefused && missing.way == .bounce ? .bounce : .deferral
            let origin = isRefused ? missing.rule.map { ", by \($0.title)" } ?? "" : ""
            let isImpossible = isRefused || isHopeless
            let what =
                isImpossible ? "a requirement cannot be met" : "it is not known yet whether the requirement can be met"
            reasons.append("\(what): \(action.rawValue)\(origin)")
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

    /// Stops a message that must be encrypted for `recipient` but is already encrypted for others only.
    private mutating func refuse(encryptedNotFor recipient: EmailAddress, _ availability: Availability) {
        guard can(.require, availability, ("certificate", "encrypted"), recipient) else { return }
        let text = "the message is encrypted already, but not to a certificate in use for \(recipient)"
        reasons.append(text)
        obstacles.append(text)
        isRefused = true
    }

    /// Whether the form of the message allows a protection that is wanted at `level`. If it does not, a required protection becomes an
    /// obstacle.
    private mutating func isAllowed(_ level: Policy.Level, _ done: String, _ why: String?) -> Bool {
        guard let why else { return true }
        let text = "the message cannot be \(done) (\(why))"
        reasons.append(text)
        if level == .require {
            obstacles.append(text)
            isUnfit = true
        } else {
            warnings.append("not \(done): \(why)")
        }
        return false
    }

    /// Whether a protection that is wanted at `level` is applied. A required one that is not available becomes an obstacle.
    ///
    /// - Parameters:
    ///   - what: what is needed, such as a certificate, and what the message lacks without it, such as "encrypted".
    ///   - whose: the address that needs it.
    private mutating func can(
        _ level: Policy.Level,
        _ availability: Availability,
        _ what: (needed: String, done: String),
        _ whose: EmailAddress?
    ) -> Bool {
        guard level != .never else { return false }
        let why: String
        switch availability {
        case .missing(let text), .unknown(let text), .unreached(let text), .unusable(let text): why = text
        case .usable: return true
        }
        let text = "no usable \(what.needed) for \(whose?.text ?? "the null sender") (\(why))"
        reasons.append(text)
        if availability.isUnknown(for: level) {
            obstacles.append(text)
            isUnknown = true
        } else if level == .require {
            obstacles.append(text)
            isRefused = true
        } else if availability.isWarned {
            warnings.append("not \(what.done): \(text)")
        }
        return false
    }
}

extension Availability {
    /// Whether a message that wants this at `level` waits because the availability is unknown.
    fileprivate func isUnknown(for level: Policy.Level) -> Bool {
        switch self {
        case .unknown: true
        case .unreached: level == .require
        case .missing, .unusable, .usable: false
        }
    }

    /// Whether a warning says that a message goes without.
    fileprivate var isWarned: Bool {
        switch self {
        case .unreached, .unusable: true
        case .missing, .unknown, .usable: false
        }
    }
}
