import InternetMessage
import SMIMEAgent
import SMIMEStore

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
