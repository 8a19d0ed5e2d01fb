extension Policy {
    /// Which mail a rule is for.
    public enum Scope: Hashable, Sendable {
        /// All mail.
        case global
        /// Mail to these recipients.
        case recipient(Pattern)
        /// Mail of these senders.
        case sender(Pattern)
    }

    /// What is wanted for some mail; what a rule leaves open is for the next rule to say.
    public struct Rule: Hashable, Sendable {
        public let scope: Scope
        public var sign: Level?
        public var encrypt: Level?
        /// How far messages may change the levels that this rule decides.
        public var override: Override?
        /// What happens to mail that cannot go because of what is required.
        public var missing: Missing?

        public init(
            _ scope: Scope,
            sign: Level? = nil,
            encrypt: Level? = nil,
            override: Override? = nil,
            missing: Missing? = nil
        ) {
            self.scope = scope
            self.sign = sign
            self.encrypt = encrypt
            self.override = override
            self.missing = missing
        }

        /// Whether the rule says nothing at all.
        public var isEmpty: Bool { sign == nil && encrypt == nil && override == nil && missing == nil }

        /// This rule with what `other` says in place of its own.
        public func merging(_ other: Rule) -> Rule {
            Rule(
                scope,
                sign: other.sign ?? sign,
                encrypt: other.encrypt ?? encrypt,
                override: other.override ?? override,
                missing: other.missing ?? missing
            )
        }

        /// This rule without what it says alike with `other`.
        public func removing(_ other: Rule) -> Rule {
            Rule(
                scope,
                sign: sign == other.sign ? nil : sign,
                encrypt: encrypt == other.encrypt ? nil : encrypt,
                override: override == other.override ? nil : override,
                missing: missing == other.missing ? nil : missing
            )
        }
    }
}

extension Policy.Scope: CustomStringConvertible {
    /// `global`, `recipient bob@example.org`, `sender example.org`.
    public var description: String { pattern.map { "\(side) \($0)" } ?? side }

    /// `global`, `recipient` or `sender`.
    public var side: String {
        switch self {
        case .global: "global"
        case .recipient: "recipient"
        case .sender: "sender"
        }
    }

    /// The addresses; nil for all.
    public var pattern: Policy.Pattern? {
        switch self {
        case .global: nil
        case .recipient(let pattern), .sender(let pattern): pattern
        }
    }

    /// The scope that `side` and `pattern` stand for, if they go together.
    init?(side: String, pattern: String) {
        switch (side, Policy.Pattern(pattern)) {
        case ("global", _): self = .global
        case ("recipient", let pattern?): self = .recipient(pattern)
        case ("sender", let pattern?): self = .sender(pattern)
        default: return nil
        }
    }
}
