/// The sending policy: rules for senders and recipients determine whether mail is signed and encrypted.
public enum Policy {
    /// Whether mail is signed or encrypted. The cases are ordered by strictness.
    @nonexhaustive
    public enum Level: String, CaseIterable, Comparable, Hashable, Sendable {
        /// Mail is not signed or encrypted.
        case never
        /// Mail is signed or encrypted if possible.
        case available
        /// Mail is signed or encrypted, or is not sent.
        case require

        public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

        private var rank: Int {
            switch self {
            case .never: 0
            case .available: 1
            case .require: 2
            }
        }
    }

    /// How far a message may change the level in a rule.
    @nonexhaustive
    public enum Override: String, CaseIterable, Hashable, Sendable {
        case any
        /// A message cannot change the level.
        case nothing = "none"
        /// A message may only request a stricter level.
        case stricter

        /// The default: a message cannot lower a required level, and can change any other level.
        public static func standard(for level: Level) -> Self { level == .require ? .stricter : .any }

        /// The resulting level if the message requests `request`.
        public func bounded(_ level: Level, request: Level) -> Level {
            switch self {
            case .any: request
            case .nothing: level
            case .stricter: max(level, request)
            }
        }
    }

    /// The treatment of mail whose requirements cannot be met.
    @nonexhaustive
    public enum Missing: String, CaseIterable, Hashable, Sendable {
        /// The mail is returned to its sender.
        case bounce
        /// The mail is deferred: the mail server tries again later.
        case deferral = "defer"
    }

    /// The treatment of mail that is already signed or encrypted.
    @nonexhaustive
    public enum Protected: String, CaseIterable, Hashable, Sendable {
        /// The mail is sent unchanged, unless a rule requires more.
        case pass
        /// The mail is signed once more.
        case resign
    }

    /// Whether the gateway decrypts mail.
    @nonexhaustive
    public enum GatewayDecryption: String, CaseIterable, Hashable, Sendable {
        /// As `yes`, but only for mail with authenticated encryption (AuthEnvelopedData); other mail stays encrypted.
        case authenticated
        /// Only the recipient decrypts the mail.
        case no
        /// The incoming filter decrypts the mail, and passes it on unencrypted.
        case yes
    }

    /// Kinds of mail with their own rules, because the mail was not written by one person to another.
    @nonexhaustive
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Mail that programs write (RFC 3834).
        case automatic
        /// Mail with the null sender (RFC 5321 §4.5.5).
        case bounce
        /// Mail to a mailing list (RFC 2369, RFC 2919).
        case list
    }

    /// The level if no rule sets one.
    public static let builtInLevel = Level.available
}
