import Keystore
import MIME

/// The rules that apply to mail for one recipient, those that go first in front.
///
/// The recipient's come first, for the address, its domain, the domains above it; then the sender's, for the account
/// and likewise; then the global one.
struct RulePrecedence {
    let rules: [Policy.Rule]

    init(_ all: [Policy.Rule], recipient: EmailAddress, sender: EmailAddress?, account: EmailAddress?) {
        let recipientKeys = Policy.Pattern.keys(for: recipient)
        var senderKeys = sender.map { Policy.Pattern.keys(for: $0) } ?? []
        // Mail sent as an alias is the account's; the alias's own rule is closer.
        if let account, !senderKeys.contains(account.key) {
            senderKeys.insert(account.key, at: min(1, senderKeys.count))
        }
        var placed: [(place: Int, rule: Policy.Rule)] = []
        for rule in all {
            let place: Int? =
                switch rule.scope {
                case .recipient(let pattern): recipientKeys.firstIndex(of: pattern.key)
                case .sender(let pattern): senderKeys.firstIndex(of: pattern.key).map { $0 + recipientKeys.count }
                case .global: recipientKeys.count + senderKeys.count
                }
            if let place { placed.append((place, rule)) }
        }
        rules = placed.sorted { $0.place < $1.place }.map(\.rule)
    }

    /// The rule that decides an axis and the level it gives; no rule for the built-in level.
    ///
    /// The global rule decides for all that no other one decides, if only by its bound.
    func deciding(_ axis: KeyPath<Policy.Rule, Policy.Level?>) -> (level: Policy.Level, rule: Policy.Rule?) {
        for rule in rules {
            if let level = rule[keyPath: axis] { return (level, rule) }
            if rule.scope == .global, rule.override != nil { return (Policy.builtInLevel, rule) }
        }
        return (Policy.builtInLevel, nil)
    }

    /// What happens when something required cannot be done: what the first rule says that speaks of it.
    var missing: Policy.Missing { rules.lazy.compactMap(\.missing).first ?? .bounce }
}
