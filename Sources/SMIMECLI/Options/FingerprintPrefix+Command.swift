import ArgumentParser
import PKIX

extension FingerprintPrefix: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    /// The one of `fingerprints` that begins so.
    ///
    /// - Throws: `Failure` with status 67 if none does, with 64 if several do.
    func only(among fingerprints: [Fingerprint]) throws -> Fingerprint {
        let found = matches(among: fingerprints).sorted()
        guard let first = found.first else { throw Failure(.noUser, "\(self): no such certificate here") }
        guard found.count == 1 else {
            throw Failure(
                .usage,
                "\(self): \(found.count) fingerprints begin so: "
                    + found.prefix(Self.shownCount).map { "\($0)" }.joined(separator: ", "),
                hints: ["give more of its digits"]
            )
        }
        return first
    }

    /// Why a prefix is not enough for trust: an attacker can make a certificate whose fingerprint begins like it.
    var tooShort: String { "\(self): to trust what comes from outside give the whole fingerprint" }

    /// As many candidates are shown.
    private static let shownCount = 8
}

extension ArgumentHelp {
    /// An option that selects a certificate of the store.
    static func fingerprint(_ text: String, valueName: String = "fpr") -> ArgumentHelp {
        ArgumentHelp("\(text), or its first digits, 8 or more.", valueName: valueName)
    }
}
