/// Something that keeps a certificate, a file or a message from being plainly good.
///
/// The codes are stable: programs may test them. The text is for people and may change.
public struct Problem: Hashable, Sendable {
    /// What a problem does to the verdict.
    public enum Level: String, Hashable, Sendable {
        /// The axis it belongs to has failed.
        case error
        /// Worth telling; changes no verdict and no exit status.
        case warning
    }

    /// The problem's name, in kebab-case, as in `chain-no-anchor`.
    public let code: String
    public let level: Level
    /// One sentence without a full stop, safe to print.
    public let text: String

    /// A problem of a given level.
    public init(_ code: String, _ level: Level, _ text: String) {
        self.code = code
        self.level = level
        self.text = text
    }

    /// A problem at the level of an error.
    public init(_ code: String, _ text: String) { self.init(code, .error, text) }
}

extension Problem: CustomStringConvertible {
    public var description: String { "\(code): \(text)" }
}
