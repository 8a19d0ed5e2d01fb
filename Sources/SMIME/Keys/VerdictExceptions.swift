import PKIX

/// Errors that a caller accepts as warnings, for example in an archive of old mail.
public struct VerdictExceptions: OptionSet, Hashable, Sendable {
    /// A bit mask with one bit for each exception.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Accepts a signer whose address is only in the field Sender.
    public static let sender = VerdictExceptions(rawValue: 1)
    /// Accepts SHA-1, and keys under 2048 bits (RSA, DSA) or 224 bits (elliptic curves), except keys that a single computer
    /// can break.
    public static let weakAlgorithms = VerdictExceptions(rawValue: 2)

    /// The problems of a certificate or signature with the level that a report gives them: weakness is an error unless it is
    /// accepted.
    func weigh(_ problems: [Problem]) -> [Problem] {
        guard !contains(.weakAlgorithms) else { return problems }
        return problems.map { $0.kind.isWeakness ? Problem($0.kind, $0.text) : $0 }
    }
}
