/// The sending policy: what may, should and must happen to mail, by rules for senders and recipients.
public enum Policy {
    /// Whether mail is signed or encrypted. The cases are ordered by strictness.
    @nonexhaustive
    public enum Level: String, CaseIterable, Comparable, Hashable, Sendable {
        /// It is not done.
        case never
        /// It is done if it can be done.
        case available
        /// It is done, or the mail is not sent.
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

    /// How far a message may change what a rule says.
    @nonexhaustive
    public enum Override: String, CaseIterable, Hashable, Sendable {
        case any
        /// Not at all.
        case nothing = "none"
        /// To something stricter only.
        case stricter

        /// The default: a message may not lower a required level, and may change any other one.
        public static func standard(for level: Level) -> Self { level == .require ? .stricter : .any }

        /// The resulting level if the message asks for `request`.
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
        /// It goes back to its sender.
        case bounce
        /// It waits for the certificate to be found.
        case deferral = "defer"
    }

    /// The treatment of mail that is already signed or encrypted.
    @nonexhaustive
    public enum Protected: String, CaseIterable, Hashable, Sendable {
        /// It is sent unchanged, unless a rule requires more.
        case pass
        /// It gets one more signature around it.
        case resign
    }

    /// Where mail for an account is decrypted.
    @nonexhaustive
    public enum GatewayDecryption: String, CaseIterable, Hashable, Sendable {
        /// As `yes`, but only mail with authenticated encryption (AuthEnvelopedData); other mail stays encrypted.
        case authenticated
        /// By its recipient alone.
        case no
        /// By the incoming filter, so that it continues in clear.
        case yes
    }

    /// Kinds of mail with rules of their own, which no person wrote to another.
    @nonexhaustive
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Mail that programs write (RFC 3834).
        case automatic
        /// Mail without a sender (RFC 5321 §4.5.5).
        case bounce
        /// Mail to a list (RFC 2369, RFC 2919).
        case list
    }

    /// The level without any rule.
    public static let builtInLevel = Level.available
}
