import InternetMessage
import SMIMEAgent
import SMIMEStore

/// The action on a message whose levels for signing and encryption are known.
struct PolicyOutcome {
    private(set) var action = PolicyDecision.Action.plain
    private(set) var warnings: [String] = []
    private(set) var unmetRequirements: [String] = []
    private(set) var reasons: [String] = []
    /// Whether a requirement definitely cannot be met.
    private(set) var isRefused = false
    /// Whether the form of the message prevents required protection.
    private(set) var isUnfit = false
    /// Whether it is unknown for now whether a requirement can be met.
    private var isUnknown = false

    init(
        _ recipient: EmailAddress,
        sign: Policy.Level,
        encrypt: Policy.Level,
        precedence: RulePrecedence,
        _ question: PolicyQuestion
    ) {
        let missing = precedence.missing
        let resigns = precedence.protected == .resign && question.protection != .unprotected && sign != .never
        let isEncrypted = question.protection == .encrypted
        let isUnreadable = isEncrypted && encrypt == .require && !question.readers.contains(recipient)
        switch question.protection {
        case .encrypted where !resigns && !isUnreadable:
            reasons = ["the message is encrypted already and is sent as it is"]
            return
        case .signed where encrypt != .require && !resigns:
            reasons = ["the message is signed already and is sent as it is"]
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
            && can(sign, question.signing, what: ("identity to sign with", "signed"), whose: question.sender)
            && isAllowed(sign, "signed", why: question.signingObstacle)
        let availability = question.encryption[recipient] ?? .missing(why: "none is known")
        let doesEncrypt =
            !isEncrypted
            && can(encrypt, availability, what: ("certificate", "encrypted"), whose: recipient)
            && isAllowed(encrypt, "encrypted", why: question.encryptionObstacle)
        if isUnreadable { refuse(encryptedNotFor: recipient, availability) }
        guard unmetRequirements.isEmpty else {
            // If the form prevents signing or encryption, waiting does not help. But a bounce must not be answered.
            let isHopeless = isUnfit && !isRefused && !isUnknown && question.kind != .bounce
            action = isHopeless || isRefused && missing.way == .bounce ? .bounce : .deferral
            let origin = isRefused ? missing.rule.map { ", by \($0.title)" } ?? "" : ""
            let isImpossible = isRefused || isHopeless
            let what =
                isImpossible ? "a requirement cannot be met" : "it is not known yet whether the mail can be protected"
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

    /// Refuses an encrypted message that must be encrypted for `recipient` but is encrypted only for others.
    private mutating func refuse(encryptedNotFor recipient: EmailAddress, _ availability: Availability) {
        guard can(.require, availability, what: ("certificate", "encrypted"), whose: recipient) else { return }
        let text = "the message is encrypted already, but not to a certificate in use for \(recipient)"
        reasons.append(text)
        unmetRequirements.append(text)
        isRefused = true
    }

    /// Whether the form of the message permits the protection. If not, and if `level` requires it, adds an unmet
    /// requirement.
    private mutating func isAllowed(_ level: Policy.Level, _ done: String, why: String?) -> Bool {
        guard let why else { return true }
        let text = "the message cannot be \(done) (\(why))"
        reasons.append(text)
        if level == .require {
            unmetRequirements.append(text)
            isUnfit = true
        } else {
            warnings.append("not \(done): \(why)")
        }
        return false
    }

    /// Whether the protection with this `level` is applied. Adds an unmet requirement if it is required but not
    /// available.
    ///
    /// - Parameters:
    ///   - what: what the protection needs (`needed`), and the word for a protected message (`done`).
    ///   - whose: the owner of the identity or certificate; nil for the null sender.
    private mutating func can(
        _ level: Policy.Level,
        _ availability: Availability,
        what: (needed: String, done: String),
        whose: EmailAddress?
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
            unmetRequirements.append(text)
            isUnknown = true
        } else if level == .require {
            unmetRequirements.append(text)
            isRefused = true
        } else if availability.isWarned {
            warnings.append("not \(what.done): \(text)")
        }
        return false
    }
}

extension Availability {
    /// Whether a message with this `level` is deferred, because it is unknown if the identity or certificate is available.
    fileprivate func isUnknown(for level: Policy.Level) -> Bool {
        switch self {
        case .unknown: true
        case .unreached: level == .require
        case .missing, .unusable, .usable: false
        }
    }

    /// Whether there is a warning if a message is sent without this protection.
    fileprivate var isWarned: Bool {
        switch self {
        case .unreached, .unusable: true
        case .missing, .unknown, .usable: false
        }
    }
}
