/// A defect or doubt about a certificate, a file or a message.
///
/// The codes are stable: programs may test them. The text is for users and may change.
public struct Problem: Hashable, Sendable {
    /// The effect of a problem on the verdict.
    @nonexhaustive
    public enum Level: String, Hashable, Sendable {
        /// An error. The trust, validity or revocation that the problem concerns has failed.
        case error
        /// A warning. The problem is reported, but affects no verdict and no exit status.
        case warning
    }

    /// The code of the problem.
    public let kind: ProblemCode
    /// The severity.
    public let level: Level
    /// One sentence without a full stop, safe to print.
    public let text: String

    /// A problem with the level of its code.
    public init(_ kind: ProblemCode, _ text: String) {
        self.kind = kind
        level = kind.level
        self.text = text
    }

    /// A problem that is only a warning in this case, even if the level of its code is higher.
    public init(warning kind: ProblemCode, _ text: String) {
        self.kind = kind
        level = .warning
        self.text = text
    }

    /// The problem's code in kebab-case, such as `chain-no-anchor`.
    public var code: String { kind.rawValue }
}

extension Problem: CustomStringConvertible {
    public var description: String { "\(code): \(text)" }
}
