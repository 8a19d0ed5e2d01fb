import PKIX

/// Errors that a caller accepts as warnings, for example for an archive of old mail.
public struct VerdictExceptions: OptionSet, Hashable, Sendable {
    /// One bit for each exception.
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A signer that only the field Sender names.
    public static let sender = VerdictExceptions(rawValue: 1)
    /// SHA-1, and keys under 2048 bits (RSA, DSA) or 224 bits (elliptic curves), except keys that a single computer can break.
    public static let weakAlgorithms = VerdictExceptions(rawValue: 2)

    /// `problems` of a certificate or signature, at the level they have in a report: weakness is an error unless it is accepted.
    func weigh(_ problems: [Problem]) -> [Problem] {
        guard !contains(.weakAlgorithms) else { return problems }
        return problems.map { $0.kind.isWeakness ? Problem($0.kind, $0.text) : $0 }
    }
}
