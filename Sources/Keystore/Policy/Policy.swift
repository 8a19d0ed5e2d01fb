/// The sending policy: what may, should and must happen to mail, by rules for senders and recipients.
public enum Policy {
    /// How much is wanted of signing, or of encryption. The order is that of strictness.
    public enum Level: String, CaseIterable, Comparable, Hashable, Sendable {
        /// It is not done.
        case never
        /// It is done if it can be done.
        case available
        /// It is done, or the mail does not go.
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
    public enum Override: String, CaseIterable, Hashable, Sendable {
        case any
        /// Not at all.
        case nothing = "none"
        /// To something stricter only.
        case stricter

        /// What becomes of `level` when the message asks for `wish`.
        public func bounded(_ level: Level, wish: Level) -> Level {
            switch self {
            case .any: wish
            case .nothing: level
            case .stricter: max(level, wish)
            }
        }
    }

    /// What happens to mail for which something is required that cannot be done.
    public enum Missing: String, CaseIterable, Hashable, Sendable {
        /// It goes back to its sender.
        case bounce
        /// It waits for the certificate to be found.
        case deferral = "defer"
    }

    /// What is signed and encrypted where no rule speaks.
    public static let builtInLevel = Level.available
}
