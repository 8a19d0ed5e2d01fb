/// A reason why a certificate, a file or a message is not plainly good.
///
/// The codes are stable: programs may test them. The text is for people and may change.
public struct Problem: Hashable, Sendable {
    /// The effect of a problem on the verdict.
    @nonexhaustive
    public enum Level: String, Hashable, Sendable {
        /// The axis it belongs to has failed.
        case error
        /// Worth telling; changes no verdict and no exit status.
        case warning
    }

    /// The code of the problem.
    public let kind: ProblemCode
    /// How bad it is.
    public let level: Level
    /// One sentence without a full stop, safe to print.
    public let text: String

    /// A problem at the level of its code.
    public init(_ kind: ProblemCode, _ text: String) {
        self.kind = kind
        level = kind.level
        self.text = text
    }

    /// A problem that is only a warning where it was found, whatever the level of its code.
    public init(warning kind: ProblemCode, _ text: String) {
        self.kind = kind
        level = .warning
        self.text = text
    }

    /// The problem's name, in kebab-case, as in `chain-no-anchor`.
    public var code: String { kind.rawValue }
}

extension Problem: CustomStringConvertible {
    public var description: String { "\(code): \(text)" }
}
