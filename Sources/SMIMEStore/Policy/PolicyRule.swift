package import InternetMessage

extension Policy {
    /// The mail to which a rule applies.
    @nonexhaustive
    public enum Scope: Hashable, Sendable {
        /// All mail.
        case global
        /// Mail of this kind.
        case kind(Kind)
        /// Mail to these recipients.
        case recipient(Pattern)
        /// Mail from these senders.
        case sender(Pattern)
    }

    /// The levels and options for some mail. If a value is nil, the next rule decides.
    public struct Rule: Hashable, Sendable {
        /// The mail to which the rule applies.
        public let scope: Scope
        /// Whether the mail is signed.
        public var sign: Level?
        /// Whether the mail is encrypted.
        public var encrypt: Level?
        /// How far messages may change the levels of this rule; nil means `Override.standard(for:)` of each level.
        public var override: Override?
        /// The treatment of mail whose requirements cannot be met.
        public var missing: Missing?
        /// The treatment of mail that is already signed or encrypted.
        public var protected: Protected?
        /// Whether a gateway decrypts incoming mail for these recipients.
        public var decryptAtGateway: GatewayDecryption?

        public init(
            _ scope: Scope,
            sign: Level? = nil,
            encrypt: Level? = nil,
            override: Override? = nil,
            missing: Missing? = nil,
            protected: Protected? = nil,
            decryptAtGateway: GatewayDecryption? = nil
        ) {
            self.scope = scope
            self.sign = sign
            self.encrypt = encrypt
            self.override = override
            self.missing = missing
            self.protected = protected
            self.decryptAtGateway = decryptAtGateway
        }

        /// How far messages may change `level`, a level of this rule.
        package func bound(of level: Level) -> Override { override ?? .standard(for: level) }

        /// Whether the rule requires signing or encryption.
        package var requiresSomething: Bool { sign == .require || encrypt == .require }

        /// Whether the rule has no values.
        package var isEmpty: Bool { self == Rule(scope) }

        /// This rule, with the values of `other` replacing those of this rule.
        package func merging(_ other: Rule) -> Rule {
            Rule(
                scope,
                sign: other.sign ?? sign,
                encrypt: other.encrypt ?? encrypt,
                override: other.override ?? override,
                missing: other.missing ?? missing,
                protected: other.protected ?? protected,
                decryptAtGateway: other.decryptAtGateway ?? decryptAtGateway
            )
        }

        /// The required levels of this rule, with its `override`, and with its `missing` if a level is required.
        package var onlyRequired: Rule {
            Rule(
                scope,
                sign: sign == .require ? sign : nil,
                encrypt: encrypt == .require ? encrypt : nil,
                override: override,
                missing: requiresSomething ? missing : nil
            )
        }

        /// This rule without the values that are equal in `other`.
        package func removing(_ other: Rule) -> Rule {
            Rule(
                scope,
                sign: sign == other.sign ? nil : sign,
                encrypt: encrypt == other.encrypt ? nil : encrypt,
                override: override == other.override ? nil : override,
                missing: missing == other.missing ? nil : missing,
                protected: protected == other.protected ? nil : protected,
                decryptAtGateway: decryptAtGateway == other.decryptAtGateway ? nil : decryptAtGateway
            )
        }
    }
}

extension Policy.Scope: CustomStringConvertible {
    /// For example `global`, `recipient bob@example.org` or `sender example.org`.
    public var description: String { self == .global ? side : "\(side) \(text)" }

    /// `global`, `kind`, `recipient` or `sender`.
    public var side: String {
        switch self {
        case .global: "global"
        case .kind: "kind"
        case .recipient: "recipient"
        case .sender: "sender"
        }
    }

    /// The addresses or the kind, as written; empty for all mail.
    public var text: String {
        switch self {
        case .global: ""
        case .kind(let kind): kind.rawValue
        case .recipient(let pattern), .sender(let pattern): pattern.text
        }
    }

    /// The key by which scopes with the same side are compared.
    var key: String {
        switch self {
        case .global, .kind: text
        case .recipient(let pattern), .sender(let pattern): pattern.key
        }
    }

    /// The scope with `side` and `pattern`; nil if they do not fit together.
    init?(side: String, pattern: String) {
        switch (side, Policy.Pattern(pattern)) {
        case ("global", _): self = .global
        case ("kind", _):
            guard let kind = Policy.Kind(rawValue: pattern) else { return nil }
            self = .kind(kind)
        case ("recipient", let pattern?): self = .recipient(pattern)
        case ("sender", let pattern?): self = .sender(pattern)
        default: return nil
        }
    }
}

extension Policy {
    /// The addresses to which a rule applies: one address, a domain, or all domains below a domain.
    public struct Pattern: Hashable, Sendable {
        /// The key by which patterns are compared: `local@domain`, `@domain`, `*.domain`.
        package let key: String
        /// The pattern as written; a domain is written without its @.
        public let text: String

        /// Reads `bob@example.org`, `example.org`, `@example.org`, `*@example.org` or `*.example.org`; nil if `written` has
        /// another form.
        ///
        /// Domains may be written with A-labels or U-labels.
        public init?(_ written: String) {
            // `*@example.org` means the same as `@example.org`; it is not a mailbox named `*`.
            let text = written.hasPrefix("*@") ? String(written.dropFirst()) : written
            let isWildcard = text.hasPrefix("*.")
            let domain = isWildcard ? text.dropFirst(2) : text.hasPrefix("@") ? text.dropFirst() : text[...]
            if !isWildcard, domain.contains("@") {
                guard domain.count == text.count, let address = try? EmailAddress(text) else { return nil }
                (self.text, key) = (text, address.key)
                return
            }
            // A domain is valid if it can follow the @ of an address.
            guard !domain.contains("@"), let ascii = try? EmailAddress("x@\(domain)").asciiDomain,
                !isWildcard || !ascii.hasPrefix("[")
            else { return nil }
            self.text = (isWildcard ? "*." : "") + domain
            key = (isWildcard ? "*." : "@") + ascii
        }

        /// The keys of all patterns that match `address`, the most specific first: the address, its domain, and the domains
        /// above.
        package static func keys(for address: EmailAddress) -> [String] {
            var keys = [address.key, "@" + address.asciiDomain]
            guard !address.asciiDomain.hasPrefix("[") else { return keys }
            var rest = address.asciiDomain[...]
            while let dot = rest.firstIndex(of: ".") {
                rest = rest[rest.index(after: dot)...]
                keys.append("*." + rest)
            }
            return keys
        }
    }
}

extension Policy.Pattern: CustomStringConvertible {
    public var description: String { text }
}
