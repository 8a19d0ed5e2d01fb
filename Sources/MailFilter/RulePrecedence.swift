import Keystore
import MIME

/// The rules that apply to mail for one recipient, those that go first in front.
///
/// The recipient's come first, for the address, its domain, the domains above it; then the sender's, for the account
/// and likewise; then the one for the kind of mail; then the global one.
struct RulePrecedence {
    /// What decides an axis.
    struct Choice {
        let level: Policy.Level
        /// The rule that decides; nil for the built-in level.
        let rule: Policy.Rule?
        /// Whether the level is the one built in for the kind of mail.
        var isOfKind = false
    }

    let rules: [Policy.Rule]
    private let kind: Policy.Kind?
    private let hasAccount: Bool

    init(
        _ all: [Policy.Rule],
        recipient: EmailAddress,
        sender: EmailAddress?,
        account: EmailAddress?,
        kind: Policy.Kind? = nil
    ) {
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
                case .kind(kind): recipientKeys.count + senderKeys.count
                case .kind: nil
                case .global: recipientKeys.count + senderKeys.count + 1
                }
            if let place { placed.append((place, rule)) }
        }
        rules = placed.sorted { $0.place < $1.place }.map(\.rule)
        self.kind = kind
        hasAccount = account != nil
    }

    /// What decides encryption. What any rule requires stands, whatever the rule for the kind of mail says.
    var encryption: Choice {
        let choice = deciding(\.encrypt, encrypting: true)
        guard case .kind = choice.rule?.scope, choice.level != .require,
            let global = rules.first(where: { $0.scope == .global }), global.encrypt == .require
        else { return choice }
        return Choice(level: .require, rule: global)
    }

    /// What decides signing. Who sends a bounce has no key to sign it with.
    var signing: Choice {
        kind == .bounce
            ? Choice(level: .never, rule: nil, isOfKind: true) : deciding(\.sign, encrypting: false)
    }

    /// The rule that decides an axis and the level it gives; no rule for the built-in level.
    ///
    /// The global rule decides for all that no other one decides, if only by its bound.
    private func deciding(_ axis: KeyPath<Policy.Rule, Policy.Level?>, encrypting: Bool) -> Choice {
        let ofKind = kind?.builtInLevel(encrypting: encrypting, hasAccount: hasAccount)
        for rule in rules {
            guard rule.scope == .global else {
                if let level = rule[keyPath: axis] { return Choice(level: level, rule: rule) }
                continue
            }
            let isRequired = encrypting && rule[keyPath: axis] == .require
            if let ofKind, !isRequired { return Choice(level: ofKind, rule: rule, isOfKind: true) }
            if let level = rule[keyPath: axis] { return Choice(level: level, rule: rule) }
            if rule.override != nil { return Choice(level: Policy.builtInLevel, rule: rule) }
        }
        return Choice(level: ofKind ?? Policy.builtInLevel, rule: nil, isOfKind: ofKind != nil)
    }

    /// What happens when something required cannot be done, by the first rule that speaks of it; no rule for the
    /// built-in way. A bounce is never answered with another one.
    var missing: (way: Policy.Missing, rule: Policy.Rule?) {
        if kind == .bounce { return (.deferral, nil) }
        for rule in rules { if let missing = rule.missing { return (missing, rule) } }
        return (.bounce, nil)
    }

    /// Whether mail for the recipient is decrypted on its way in.
    var decryptsAtGateway: Bool { rules.lazy.compactMap(\.decryptAtGateway).first == .yes }

    /// What happens to mail that is protected already.
    var protected: Policy.Protected { rules.lazy.compactMap(\.protected).first ?? .pass }
}
