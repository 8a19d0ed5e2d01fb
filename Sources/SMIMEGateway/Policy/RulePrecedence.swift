import InternetMessage
import SMIMEAgent
import SMIMEStore

/// The rules that apply to mail for one recipient, in order of precedence.
///
/// The rules for the recipient are first: for the address, its domain, and the domains above. Next are those for the sender
/// in the same order; after the address come the address without its detail and the sender's account. Then follow the rule
/// for the kind of mail, and the global rule.
///
/// A requirement in a rule for an address also applies to its sub-addresses, and to addresses that mail servers treat as this
/// address or route to it (`Subaddressing.implied`). A rule for such an address itself takes precedence.
struct RulePrecedence {
    /// The level for signing or encryption, and what determined it.
    struct Choice {
        let level: Policy.Level
        /// The rule that sets the level; for a built-in level the global rule, whose `override` may limit how a message
        /// changes the level; nil if there is no such rule.
        let rule: Policy.Rule?
        /// Whether the level is the built-in level for the kind of mail.
        var isOfKind = false

        /// How far a message may change the level.
        var bound: Policy.Override { rule?.bound(of: level) ?? .standard(for: level) }
    }

    let rules: [Policy.Rule]
    private let kind: Policy.Kind?
    private let hasAccount: Bool

    /// - Parameter recipient: nil for a recipient without a domain, to whom no rule for recipients applies.
    init(
        _ all: [Policy.Rule],
        recipient: EmailAddress?,
        sender: EmailAddress?,
        account: EmailAddress?,
        kind: Policy.Kind? = nil,
        subaddressing: Subaddressing = .standard
    ) {
        let recipients = Self.keys(for: recipient, subaddressing)
        let senders = Self.keys(for: sender, account, subaddressing)
        var placed: [(place: Int, rule: Policy.Rule)] = []
        func add(_ rule: Policy.Rule, for pattern: Policy.Pattern, among keys: [Key], after start: Int) {
            guard let place = keys.firstIndex(where: { $0.key == pattern.key }) else { return }
            if keys[place].isImplied { placed.append((start + place, rule.onlyRequired)) }
            // The same key may be implied by another address and be one of the address's own, such as a domain above both.
            if let own = keys.firstIndex(where: { $0.key == pattern.key && !$0.isImplied }) {
                placed.append((start + own, rule))
            }
        }
        for rule in all {
            switch rule.scope {
            case .recipient(let pattern): add(rule, for: pattern, among: recipients, after: 0)
            case .sender(let pattern): add(rule, for: pattern, among: senders, after: recipients.count)
            case .kind(kind): placed.append((recipients.count + senders.count, rule))
            case .kind: continue
            case .global: placed.append((recipients.count + senders.count + 1, rule))
            }
        }
        rules = placed.sorted { $0.place < $1.place }.map(\.rule)
        self.kind = kind
        hasAccount = account != nil
    }

    /// The key of a pattern that matches an address, and whether only the requirements in its rule apply.
    private typealias Key = (key: String, isImplied: Bool)

    private static func keys(for recipient: EmailAddress?, _ subaddressing: Subaddressing) -> [Key] {
        guard let recipient else { return [] }
        let own = ownKeys(recipient)
        return own.prefix(1) + impliedKeys(recipient, subaddressing) + own.dropFirst()
    }

    private static func keys(
        for sender: EmailAddress?,
        _ account: EmailAddress?,
        _ subaddressing: Subaddressing
    ) -> [Key] {
        let owner = account.map { (key: $0.key, isImplied: false) }
        guard let sender else { return [owner].compactMap(\.self) }
        let own = ownKeys(sender)
        // Mail sent from an alias belongs to the account. A rule for the alias itself takes precedence.
        let others = [subaddressing.base(of: sender).map { (key: $0.key, isImplied: false) }, owner]
            .compactMap(\.self).filter { other in !own.contains { $0.key == other.key } }
        return own.prefix(1) + others + impliedKeys(sender, subaddressing) + own.dropFirst()
    }

    private static func ownKeys(_ address: EmailAddress) -> [Key] {
        Policy.Pattern.keys(for: address).map { (key: $0, isImplied: false) }
    }

    private static func impliedKeys(_ address: EmailAddress, _ subaddressing: Subaddressing) -> [Key] {
        subaddressing.implied(by: address).flatMap { other in
            // Addresses in the same domain only: the rules for domains follow later in any case.
            other.asciiDomain == address.asciiDomain ? [other.key] : Policy.Pattern.keys(for: other)
        }
        .map { (key: $0, isImplied: true) }
    }

    /// The choice for encryption. If a rule for the mail requires encryption, this also holds for bounces, list mail and
    /// automatic mail.
    var encryption: Choice { choice(\.encrypt, encrypting: true) }

    /// The choice for signing. Mail with the null sender is not signed, because no mail server has checked its sender. It is
    /// not sent at all if the account in From must sign, or if a rule for a sender in From requires signing.
    var signing: Choice {
        guard kind == .bounce else { return choice(\.sign, encrypting: false) }
        let choice = deciding(\.sign, encrypting: false, of: nil)
        let isOwn = hasAccount || rules.contains { $0.isForSender && $0.sign == .require }
        return isOwn && choice.level == .require ? choice : Choice(level: .never, rule: nil, isOfKind: true)
    }

    /// The choice for signing or encryption. If messages must not lower a level, a message cannot do so by claiming to be
    /// automatic or list mail.
    private func choice(_ axis: KeyPath<Policy.Rule, Policy.Level?>, encrypting: Bool) -> Choice {
        let ofKind = deciding(axis, encrypting: encrypting, of: kind)
        guard let kind else { return ofKind }
        let other = deciding(axis, encrypting: encrypting, of: nil)
        guard ofKind.level < other.level else { return ofKind }
        // Any user can send with the null envelope sender, so the rules of an account also apply to such mail of the
        // account.
        let isBounded = (kind != .bounce || hasAccount) && other.bound != .any
        return isBounded || encrypting && other.level == .require ? other : ofKind
    }

    /// The rule that decides for mail of `kind`, with its level; the rule is nil for the built-in level.
    ///
    /// The global rule decides if no other rule does, even if the global rule sets only `override`.
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

    /// The action if a requirement cannot be met, from the first rule that sets one, otherwise the built-in action. A
    /// bounce is never returned with another bounce.
    var missing: (way: Policy.Missing, rule: Policy.Rule?) {
        if kind == .bounce { return (.deferral, nil) }
        for rule in rules { if let missing = rule.missing { return (missing, rule) } }
        return (.bounce, nil)
    }

    /// Whether incoming mail for the recipient is decrypted, and the rule that says so; nil if no rule does.
    var gatewayDecryption: (way: Policy.GatewayDecryption, rule: Policy.Rule)? {
        rules.lazy.compactMap { rule in rule.decryptAtGateway.map { ($0, rule) } }.first
    }

    /// The treatment of mail that is already signed or encrypted.
    var protected: Policy.Protected { rules.lazy.compactMap(\.protected).first ?? .pass }
}

extension Policy.Rule {
    /// Whether the rule is for mail from an address or domain.
    var isForSender: Bool {
        guard case .sender = scope else { return false }
        return true
    }
}
