import InternetMessage
import SMIMEAgent
import SMIMEStore

/// The rules that apply to mail for one recipient, the decisive one first.
///
/// The recipient's come first, for the address, its domain, the domains above it; then the sender's, for the account
/// and likewise; then the one for the kind of mail; then the global one.
///
/// What a rule requires for an address is required for its sub-addresses, too, and for addresses that mail servers route to
/// it (`Subaddressing.implied`); a rule for such an address itself goes first.
struct RulePrecedence {
    /// The deciding rule or request of an axis.
    struct Choice {
        let level: Policy.Level
        /// The rule that decides; nil for the built-in level.
        let rule: Policy.Rule?
        /// Whether the level is the one built in for the kind of mail.
        var isOfKind = false

        /// How far a message may change it.
        var bound: Policy.Override { rule?.bound(of: level) ?? .standard(for: level) }
    }

    let rules: [Policy.Rule]
    private let kind: Policy.Kind?
    private let hasAccount: Bool

    init(
        _ all: [Policy.Rule],
        recipient: EmailAddress,
        sender: EmailAddress?,
        account: EmailAddress?,
        kind: Policy.Kind? = nil,
        subaddressing: Subaddressing = .standard
    ) {
        let recipients = Self.keys(for: recipient, subaddressing)
        let senders = Self.keys(for: sender, account, subaddressing)
        var placed: [(place: Int, rule: Policy.Rule)] = []
        for rule in all {
            switch rule.scope {
            case .recipient(let pattern):
                guard let place = recipients.firstIndex(where: { $0.key == pattern.key }) else { continue }
                if recipients[place].isImplied { placed.append((place, rule.onlyRequired)) }
                // The rule may also be stated for the address itself, beside that of its domain.
                if let own = recipients.firstIndex(where: { $0.key == pattern.key && !$0.isImplied }) {
                    placed.append((own, rule))
                }
            case .sender(let pattern):
                guard let place = senders.firstIndex(of: pattern.key) else { continue }
                placed.append((place + recipients.count, rule))
            case .kind(kind): placed.append((recipients.count + senders.count, rule))
            case .kind: continue
            case .global: placed.append((recipients.count + senders.count + 1, rule))
            }
        }
        rules = placed.sorted { $0.place < $1.place }.map(\.rule)
        self.kind = kind
        hasAccount = account != nil
    }

    /// The keys of the patterns that match `recipient`, and whether only requirements of their rules count.
    private static func keys(
        for recipient: EmailAddress,
        _ subaddressing: Subaddressing
    ) -> [(key: String, isImplied: Bool)] {
        let own = Policy.Pattern.keys(for: recipient).map { (key: $0, isImplied: false) }
        let implied = subaddressing.implied(by: recipient).flatMap { address in
            // Only the same domain: the rules of domains follow later anyway.
            address.asciiDomain == recipient.asciiDomain ? [address.key] : Policy.Pattern.keys(for: address)
        }
        return own.prefix(1) + implied.map { (key: $0, isImplied: true) } + own.dropFirst()
    }

    private static func keys(
        for sender: EmailAddress?,
        _ account: EmailAddress?,
        _ subaddressing: Subaddressing
    ) -> [String] {
        guard let sender else { return [account?.key].compactMap(\.self) }
        let own = Policy.Pattern.keys(for: sender)
        // Mail sent by an alias belongs to the account; a rule for the alias itself goes first.
        let others = [subaddressing.base(of: sender)?.key, account?.key].compactMap(\.self).filter { !own.contains($0) }
        return own.prefix(1) + others + own.dropFirst()
    }

    /// The choice for encryption. A level that any rule requires counts for every kind of mail.
    var encryption: Choice { choice(\.encrypt, encrypting: true) }

    /// The choice for signing. Mail with the null sender is not signed, because no mail server has checked its sender.
    /// If the account in From must sign, or a rule for a sender in From requires it, such mail is not sent either.
    var signing: Choice {
        guard kind == .bounce else { return choice(\.sign, encrypting: false) }
        let choice = deciding(\.sign, encrypting: false, of: nil)
        let isOwn = hasAccount || rules.contains { $0.isForSender && $0.sign == .require }
        return isOwn && choice.level == .require ? choice : Choice(level: .never, rule: nil, isOfKind: true)
    }

    /// The choice for an axis. The claim of a message to be automatic or list mail cannot lower a level that messages may not lower.
    private func choice(_ axis: KeyPath<Policy.Rule, Policy.Level?>, encrypting: Bool) -> Choice {
        let ofKind = deciding(axis, encrypting: encrypting, of: kind)
        guard let kind else { return ofKind }
        let other = deciding(axis, encrypting: encrypting, of: nil)
        guard ofKind.level < other.level else { return ofKind }
        // Any user can send with a null envelope sender, so mail of an account keeps the rules of the account.
        let isBounded = (kind != .bounce || hasAccount) && other.bound != .any
        return isBounded || encrypting && other.level == .require ? other : ofKind
    }

    /// The rule that decides an axis for mail of `kind` and the level it gives; no rule for the built-in level.
    ///
    /// The global rule decides if no other one does, even if it only has a bound.
    private func deciding(
        _ axis: KeyPath<Policy.Rule, Policy.Level?>,
        encrypting: Bool,
        of kind: Policy.Kind?
    ) -> Choice {
        let ofKind = kind?.builtInLevel(encrypting: encrypting, hasAccount: hasAccount)
        for rule in rules {
            if case .kind = rule.scope, kind == nil { continue }
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

    /// The action if a requirement cannot be met, by the first rule that has one; the built-in action without such a
    /// rule. A bounce is never answered with a bounce.
    var missing: (way: Policy.Missing, rule: Policy.Rule?) {
        if kind == .bounce { return (.deferral, nil) }
        for rule in rules { if let missing = rule.missing { return (missing, rule) } }
        return (.bounce, nil)
    }

    /// Whether mail for the recipient is decrypted on its way in, and the rule that says so; nil if no rule says so.
    var gatewayDecryption: (way: Policy.GatewayDecryption, rule: Policy.Rule)? {
        rules.lazy.compactMap { rule in rule.decryptAtGateway.map { ($0, rule) } }.first
    }

    /// The treatment of already protected mail.
    var protected: Policy.Protected { rules.lazy.compactMap(\.protected).first ?? .pass }
}

extension Policy.Rule {
    /// Whether it is for mail from an address or domain.
    var isForSender: Bool {
        guard case .sender = scope else { return false }
        return true
    }
}
